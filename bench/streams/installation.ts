import { join } from 'node:path';
import { createTokenMint } from '../../test/token-mint.ts';
import { freePort, startRole } from '../processes.ts';
import { MASTER_KEY } from '../projection-log.ts';

/** The command side of Annals, each role as an operator starts it, and the settings for its query roles. */
export type WritingSide = AsyncDisposable & {
  readonly commandUrl: string;
  startQuery(nodeArguments?: readonly string[]): ReturnType<typeof startRole>;
  /** A token of the user, valid for an hour. */
  tokenOf(userId: number): Promise<string>;
};

/** A name in tokens only, at which nothing listens. */
const AUDIENCE = 'http://annals.example';
const LIFETIME_S = 3_600;
const ADMIN = 1;
const SCOPE =
  'read:articles write:articles publish:articles read:users write:users read:comments write:comments read:events';
/** All subscribers come from one address. */
const PLENTY = { CONNECTIONS_MAX: '1000000', STREAMS_PER_OWNER_MAX: '1000000' };

type Options = {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly settings?: Readonly<Record<string, string>>;
};

export const startWritingSide = async ({
  databaseUrl,
  dataDir,
  settings = {},
}: Options): Promise<WritingSide> => {
  await using starting = new AsyncDisposableStack();
  const mint = await createTokenMint();
  const internalPort = await freePort();
  const shared = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: join(dataDir, 'roles'),
    MASTER_KEY,
    PUBLIC_URL: AUDIENCE,
    COMMAND_URL: `http://127.0.0.1:${internalPort}`,
    ...PLENTY,
    ...settings,
  };
  const command = starting.use(
    await startRole('command/main.ts', { ...shared, INTERNAL_PORT: internalPort }, mint.jwks),
  );
  starting.use(await startRole('projector/main.ts', shared, mint.jwks));
  const running = starting.move();
  return {
    commandUrl: command.url,
    startQuery: (nodeArguments) => startRole('query/main.ts', shared, mint.jwks, nodeArguments),
    tokenOf: (userId) =>
      mint.token({
        ...{
          iss: AUDIENCE,
          aud: AUDIENCE,
          scope: SCOPE,
          sub: String(userId),
          role: userId === ADMIN ? 'admin' : 'author',
        },
        exp: Math.floor(Date.now() / 1_000) + LIFETIME_S,
      }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

type Made = { readonly id: number; readonly consistencyToken: string };

/** Registers a user who writes comments on an article of their own. */
export const startAuthor = async ({ commandUrl, tokenOf }: WritingSide) => {
  const { id } = await post(
    `${commandUrl}/users`,
    { name: 'Ada', email: null, role: 'author' },
    await tokenOf(ADMIN),
  );
  const token = await tokenOf(id);
  return { token, publish: () => publishArticle(commandUrl, token) };
};

/** Returns the id of the article. */
export const publishArticle = async (url: string, token: string): Promise<number> => {
  const article = { title: 'On engines', body: 'Analytical ones.', tags: [], publish: true };
  return (await post(`${url}/articles`, article, token)).id;
};

export const post = async (url: string, body: object, token: string): Promise<Made> => {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return { id: JSON.parse(text).id, consistencyToken: response.headers.get('consistency-token') ?? '' };
};
