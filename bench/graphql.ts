// Over 200 lines, because it is one bench: GraphQL queries, with their contenders.
import { join } from 'node:path';
import { openPool } from '../shared/database/pool.ts';
import { createTokenMint } from '../test/token-mint.ts';
import { createDatabase, postmasterOf } from './database.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { FOR_POSTGRAPHILE, LIST, NESTED, POINT, TAGS_FOR_POSTGRAPHILE } from './graphql/queries.ts';
import { applyLoad } from './load.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { startQueryRole, startServer } from './processes.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { type Contender, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Measures GraphQL reads, each contender in a process of its own on the same database. `ours` is the query
// role as an operator starts it, with tokens, rights, limits, costs, and metrics; the others answer the same
// data and check nothing. `planner` is ours without Express, and `json-agg` uses statements written by hand,
// both behind node:http. The last column compares the cost of a request with that at the first scale.
const options = readOptions({
  seconds: ['3', '0.7'],
  rounds: ['3', '5'],
  scales: ['1,10', '1'],
  contenders: [
    'ours,mercurius,yoga,apollo,postgraphile,json-agg,planner',
    'ours,mercurius,yoga,apollo,postgraphile,json-agg',
  ],
  reads: ['nested,nested by many,point,point by many,list,list by many', 'nested by many,point by many'],
  connections: ['1,32', '1,32'],
  pool: ['4', '4'],
});
const sizeOf = (scale: number): Size => ({
  users: 1_000 * scale,
  articles: 10_000 * scale,
  comments: 60_000 * scale,
});

type Read = {
  readonly query: string;
  readonly variables?: (count: number, size: Size) => object;
  readonly byMany?: boolean;
};
const point = {
  query: POINT,
  variables: (count: number, { users }: Size) => ({ id: String(FIRST_ID.users + ((count * 7_919) % users)) }),
};
const READS: Readonly<Record<string, Read>> = {
  nested: { query: NESTED },
  // Each request by another user with a token, so that no answer can be shared.
  'nested by many': { query: NESTED, byMany: true },
  point,
  'point by many': { ...point, byMany: true },
  list: { query: LIST },
  'list by many': { query: LIST, byMany: true },
};

const HEAD = {
  'content-type': 'application/json',
  accept: 'application/graphql-response+json, application/json',
};
const AUDIENCE = 'http://annals.example';
const VIEWERS = 500;

/** Tokens of that many users; they are valid for an hour, and nobody revokes them. */
const createViewers = async (mint: Awaited<ReturnType<typeof createTokenMint>>) => {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const claims = {
    iss: AUDIENCE,
    aud: AUDIENCE,
    scope: 'read:articles read:users read:comments',
    role: 'author',
    exp,
  };
  const tokens = await Promise.all(
    Array.from({ length: VIEWERS }, (_, index) =>
      mint.token({ ...claims, sub: String(FIRST_ID.users + index) }),
    ),
  );
  return tokens.map((token) => ({ ...HEAD, authorization: `Bearer ${token}` }));
};

type Server = { readonly title: string; readonly url: string; readonly pid: number | undefined };
type Installation = {
  readonly scale: number;
  readonly size: Size;
  readonly servers: readonly Server[];
  readonly viewers: readonly Record<string, string>[];
  readonly postmasterPid: number;
};

const bodyOf = (
  { title }: Server,
  { query, variables = () => ({}) }: Read,
  count: number,
  size: Size,
): string =>
  JSON.stringify({
    query: title === 'postgraphile' ? FOR_POSTGRAPHILE.get(query) : query,
    variables: variables(count, size),
  });

const contenderOf = (
  server: Server,
  read: Read,
  connections: number,
  { size, viewers }: Installation,
): Contender => {
  let count = 0;
  // Only ours reads the token, so the others give every viewer the same answer.
  const head = (): Record<string, string> => (read.byMany ? viewers[count % VIEWERS] : undefined) ?? HEAD;
  const headers = () => {
    count += 1;
    return head();
  };
  const body = () => bodyOf(server, read, count, size);
  const { title, pid } = server;
  return {
    title,
    pid,
    run: (durationMs) =>
      applyLoad({ url: server.url, connections, durationMs, method: 'POST', body, headers }),
  };
};

/** A contender with another answer would do other work. */
const compareAnswers = async ({ servers, viewers, size }: Installation): Promise<void> => {
  for (const read of Object.values(READS)) {
    const answers = await Promise.all(
      servers.map(async (server) => {
        const headers = (read.byMany ? viewers[0] : undefined) ?? HEAD;
        const response = await fetch(server.url, {
          method: 'POST',
          headers,
          body: bodyOf(server, read, 1, size),
        });
        const answer = await response.text();
        return inOneForm(JSON.parse(answer).data ?? answer);
      }),
    );
    for (const [index, answer] of answers.entries())
      if (answer !== answers[0])
        throw new Error(
          `${servers[index]?.title} answers ${answer.slice(0, 500)}\nand not ${answers[0]?.slice(0, 500)}`,
        );
  }
};

/** PostGraphile formats instants like PostgreSQL. */
const inOneForm = (data: unknown): string =>
  JSON.stringify(data, (name, value) => (name === 'createdAt' ? new Date(value).toISOString() : value));

const measure = async (read: string, connections: number, installation: Installation): Promise<void> => {
  const { scale, postmasterPid, servers } = installation;
  const asked = READS[read];
  if (asked === undefined) throw new Error(`there is no read ${read}`);
  const contenders = servers.map((server) => contenderOf(server, asked, connections, installation));
  const name = `GraphQL ${read}, ${connections} connections`;
  printTurns(
    `${name}, ${scale} ×`,
    name,
    await takeTurns(contenders, { ...turnsOf(options), postmasterPid }),
  );
};

const measureScale = async (serverUrl: string, folder: string, scale: number): Promise<void> => {
  const url = await createDatabase(serverUrl, `graphql_${scale}`);
  {
    await using pool = openPool({
      url,
      applicationName: 'bench',
      connectionsMax: 1,
      statementTimeoutMs: 600_000,
    });
    await writeData(pool, sizeOf(scale));
    await pool.query(TAGS_FOR_POSTGRAPHILE);
  }
  const mint = await createTokenMint();
  await using running = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const title of listOf(options.contenders)) {
    const server = running.use(
      title === 'ours'
        ? await startQueryRole(
            join(folder, `annals-${scale}`),
            { DATABASE_URL: url, PUBLIC_URL: AUDIENCE },
            mint.jwks,
          )
        : await startServer(`./graphql/${title}.ts`, [url, options.pool]),
    );
    servers.push({ title, url: title === 'ours' ? `${server.url}/graphql` : server.url, pid: server.pid });
  }
  const installation = {
    scale,
    size: sizeOf(scale),
    servers,
    viewers: await createViewers(mint),
    postmasterPid: await postmasterOf(serverUrl),
  };
  await compareAnswers(installation);
  for (const read of listOf(options.reads))
    for (const connections of numbersOf(options.connections)) await measure(read, connections, installation);
};

await runBenchOnPostgres(async (serverUrl, folder) => {
  for (const scale of numbersOf(options.scales)) await measureScale(serverUrl, folder, scale);
});
