import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../../testing/random.ts';
import { createGraphqlAuthor, type GraphqlAuthor } from './graphql-author.ts';
import type { Recorder } from './recorder.ts';
import { createRestAuthor, type RestAuthor } from './rest-author.ts';
import { createSender } from './sender.ts';
import type { Site } from './site.ts';
import type { Tokens } from './tokens.ts';

/** Clients of every kind, each sending one request after the other until they are ended. */
type Load = AsyncDisposable & {
  /** Never resolves; rejects if a client has failed. */
  readonly failed: Promise<never>;
  /** Resolves once every client has finished its current request. */
  end(): Promise<void>;
};

type Options = {
  readonly site: Site;
  readonly recorder: Recorder;
  readonly authors: readonly Tokens[];
  readonly seed: number;
};

const POLLERS = 2;
/** A pause between requests, so that the machine is not the bottleneck. */
const PAUSE_MS_MAX = 250;
const published = (content: object) => ({ 'article.drafted': { ...content }, 'article.published': {} });

export const startLoad = async ({ site, recorder, authors, seed }: Options): Promise<Load> => {
  const ending = new AbortController();
  const random = createRandom(seed);
  const clients: Promise<void>[] = [];
  const repeat = (work: () => Promise<void>): void => {
    const loop = async () => {
      while (!ending.signal.aborted) {
        await work();
        await delay(random() * PAUSE_MS_MAX);
      }
    };
    clients.push(loop());
  };
  const authorOf = (place: number, name: string): RestAuthor => {
    const tokens = authors[place % authors.length];
    const send = createSender({ site, recorder, ...(tokens && { tokens }) });
    return createRestAuthor({ name, send, recorder });
  };
  const editor = authorOf(0, 'editor');
  const first = { title: 'Busy', body: '', tags: [] };
  const busy = await editor.create('/articles', { ...first, publish: true }, published(first));
  if (busy === undefined) throw new Error('the first article was not acknowledged');
  // From here on it is visible to everybody.
  await editor.read(busy);
  for (const [place, tokens] of authors.entries()) {
    const author = authorOf(place, `REST ${place}`);
    repeat(() => liveByRest(author, random));
    const send = createSender({ site, recorder, tokens });
    const other = createGraphqlAuthor({ name: `GraphQL ${place}`, send, recorder });
    repeat(() => liveByGraphql(other, random));
  }
  repeat(() => {
    const change = { title: randomUUID() };
    return editor.edit(busy, change, { leaves: { 'article.edited': change } });
  });
  for (let place = 0; place < POLLERS; place += 1) {
    const anybody = createRestAuthor({
      name: `poller ${place}`,
      send: createSender({ site, recorder }),
      recorder,
    });
    repeat(() => anybody.read(busy, { isConsistent: false }));
  }
  const working = Promise.all(clients);
  const failed = working.then(() => new Promise<never>(() => {}));
  failed.catch(() => {});
  const end = async () => {
    ending.abort();
    await working;
  };
  return { failed, end, [Symbol.asyncDispose]: end };
};

const liveByRest = async (author: RestAuthor, random: () => number): Promise<void> => {
  const pause = () => delay(random() * PAUSE_MS_MAX);
  const hasKey = random() < 0.5;
  const title = randomUUID();
  const content = { title, body: title, tags: ['chaos'] };
  const article = await author.create('/articles', { ...content, publish: true }, published(content));
  if (article === undefined) return;
  await author.read(article);
  const change = { title: `${title} again` };
  await author.edit(article, change, { leaves: { 'article.edited': change }, hasKey });
  await author.read(article);
  await pause();
  const comment = await author.create(
    `${article}/comments`,
    { text: title },
    {
      'comment.added': { text: title },
    },
  );
  if (comment === undefined) return;
  await author.read(comment);
  const edit = { text: `${title} again` };
  await author.edit(comment, edit, { leaves: { 'comment.edited': edit }, hasKey });
  await pause();
  if (random() < 0.3) {
    await author.remove(comment, { leaves: { 'comment.deleted': {} }, hasKey });
    await author.read(comment);
  }
  if (random() < 0.3) {
    await author.remove(article, { leaves: { 'article.deleted': {} }, hasKey });
    await author.read(article);
  } else await author.read(article);
};

const liveByGraphql = async (author: GraphqlAuthor, random: () => number): Promise<void> => {
  const post = await author.createPost(randomUUID());
  if (post === undefined) return;
  await author.readPost(post);
  await delay(random() * PAUSE_MS_MAX);
  const edited = await author.updatePost(post, randomUUID());
  await author.addComment(post, randomUUID());
  await author.readPost(edited ?? post);
};
