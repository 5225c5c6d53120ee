import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../adapters/embedded-postgres/embedded.ts';
import { startAnnals, tokenOf } from '../processes.ts';
import { post, publishArticle } from '../streams/installation.ts';

/** Annals with all roles in one process, and a user who writes and registers webhooks. */
export type Installation = AsyncDisposable & {
  readonly databaseUrl: string;
  /** Publishes a new article. */
  publish(): Promise<number>;
  /** Registers a webhook for the comments on an article at each of these URLs, with the highest limits. */
  register(articleId: number, urls: readonly string[]): Promise<void>;
  /** Returns the id of the comment. */
  comment(articleId: number): Promise<number>;
};

const SCOPE =
  'manage:webhooks read:articles write:articles publish:articles read:comments write:comments read:events';
const TOKEN_MS = 120_000;
/** The highest limits of an endpoint. */
const LIMITS = { ratePerSecond: 1_000, concurrency: 50 };
const TEXT = 'It can do whatever we know how to order it to perform.';

type Options = { readonly dataDir: string; readonly queue: string };

export const startInstallation = async ({ dataDir, queue }: Options): Promise<Installation> => {
  await using starting = new AsyncDisposableStack();
  const { url: databaseUrl } = starting.use(
    await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') }),
  );
  const settings = { DATABASE_URL: databaseUrl, JOB_QUEUE_URL: queue, WEBHOOKS_PER_OWNER_MAX: '100000' };
  const annals = starting.use(await startAnnals(join(dataDir, 'annals'), settings));
  let token = { text: '', atMs: Number.NEGATIVE_INFINITY };
  const tokenNow = async (): Promise<string> => {
    if (performance.now() - token.atMs > TOKEN_MS)
      token = { text: await tokenOf(annals, SCOPE), atMs: performance.now() };
    return token.text;
  };
  const running = starting.move();
  return {
    databaseUrl,
    publish: async () => publishArticle(annals.url, await tokenNow()),
    async register(articleId, urls) {
      for (const url of urls) {
        const webhook = { url, eventTypes: ['comment.added'], filter: { articleId }, limits: LIMITS };
        await post(`${annals.url}/webhooks`, webhook, await tokenNow());
      }
    },
    comment: async (articleId) =>
      (await post(`${annals.url}/articles/${articleId}/comments`, { text: TEXT }, await tokenNow())).id,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
