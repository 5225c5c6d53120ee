import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { createTokenMint } from '../test/token-mint.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { FOR_POSTGRAPHILE, LIST, NESTED, POINT, TAGS_FOR_POSTGRAPHILE } from './graphql/queries.ts';
import { applyLoad } from './load.ts';
import { startQueryRole, startServer } from './processes.ts';
import { printTable } from './table.ts';
import { type Contender, statOf, takeTurns } from './turns.ts';

// GraphQL reads, each contender in a process of its own on the same database: `ours` is the query role as an operator starts it, with tokens,
// rights, limits, costs, and metrics; the others answer the same data and check nothing. `planner` is ours without Express, and `json-agg`
// statements written by hand, both behind node:http. The last column compares the cost of a request with that at the first scale.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    scales: { type: 'string', default: '1,10' },
    contenders: { type: 'string', default: 'ours,mercurius,yoga,apollo,postgraphile,json-agg,planner' },
    reads: { type: 'string', default: 'nested,nested by many,point,point by many,list,list by many' },
    connections: { type: 'string', default: '1,32' },
    pool: { type: 'string', default: '4' },
  },
});
const sizeOf = (scale: number): Size => ({ users: 1_000 * scale, articles: 10_000 * scale, comments: 60_000 * scale });

type Read = { readonly query: string; readonly variables?: (count: number, size: Size) => object; readonly byMany?: boolean };
const point = { query: POINT, variables: (count: number, { users }: Size) => ({ id: String(FIRST_ID.users + ((count * 7_919) % users)) }) };
const READS: Readonly<Record<string, Read>> = {
  nested: { query: NESTED },
  // Each by another user with a token, so that no answer can be shared.
  'nested by many': { query: NESTED, byMany: true },
  point,
  'point by many': { ...point, byMany: true },
  list: { query: LIST },
  'list by many': { query: LIST, byMany: true },
};

const HEAD = { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' };
const AUDIENCE = 'http://annals.example';
const VIEWERS = 500;

/** Tokens of as many users; they are good for an hour, and there is nobody to revoke them. */
const createViewers = async (mint: Awaited<ReturnType<typeof createTokenMint>>) => {
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const claims = { iss: AUDIENCE, aud: AUDIENCE, scope: 'read:articles read:users read:comments', role: 'author', exp };
  const tokens = await Promise.all(
    Array.from({ length: VIEWERS }, (_, index) => mint.token({ ...claims, sub: String(FIRST_ID.users + index) })),
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

const bodyOf = ({ title }: Server, { query, variables = () => ({}) }: Read, count: number, size: Size): string =>
  JSON.stringify({ query: title === 'postgraphile' ? FOR_POSTGRAPHILE.get(query) : query, variables: variables(count, size) });

const contenderOf = (server: Server, read: Read, connections: number, { size, viewers }: Installation): Contender => {
  let count = 0;
  // PostGraphile's own answers to distinct viewers are those to everybody: only ours looks at the token.
  const head = (): Record<string, string> => (read.byMany ? viewers[count % VIEWERS] : undefined) ?? HEAD;
  const headers = () => {
    count += 1;
    return head();
  };
  const body = () => bodyOf(server, read, count, size);
  const { title, pid } = server;
  return { title, pid, run: (durationMs) => applyLoad({ url: server.url, connections, durationMs, method: 'POST', body, headers }) };
};

/** Whoever answers something else does other work. */
const compareAnswers = async ({ servers, viewers, size }: Installation): Promise<void> => {
  for (const read of Object.values(READS)) {
    const answers = await Promise.all(
      servers.map(async (server) => {
        const headers = (read.byMany ? viewers[0] : undefined) ?? HEAD;
        const response = await fetch(server.url, { method: 'POST', headers, body: bodyOf(server, read, 1, size) });
        const answer = await response.text();
        return inOneForm(JSON.parse(answer).data ?? answer);
      }),
    );
    for (const [index, answer] of answers.entries())
      if (answer !== answers[0])
        throw new Error(`${servers[index]?.title} answers ${answer.slice(0, 500)}\nand not ${answers[0]?.slice(0, 500)}`);
  }
};

/** PostGraphile writes instants as PostgreSQL does. */
const inOneForm = (data: unknown): string =>
  JSON.stringify(data, (name, value) => (name === 'createdAt' ? new Date(value).toISOString() : value));

const costs = new Map<string, number>();

const measure = async (name: string, connections: number, installation: Installation): Promise<void> => {
  const { scale, postmasterPid } = installation;
  const read = READS[name];
  if (read === undefined) throw new Error(`there is no read ${name}`);
  const measured = await takeTurns(
    installation.servers.map((server) => contenderOf(server, read, connections, installation)),
    { rounds: Number(options.rounds), durationMs: Number(options.seconds) * 1_000, postmasterPid },
  );
  const [ours] = measured.values();
  printTable(
    [
      `${name}, ${connections} connections, ${scale} ×`,
      'per second',
      'p50 ms',
      'p99 ms',
      'ours is',
      'server µs',
      'database µs',
      'in all, ours is',
      'load µs',
      'cost',
    ],
    [...measured].map(([{ title }, { rate, p50Ms, p99Ms, cpuUs, databaseUs, loadUs }]) => {
      const key = `${title} ${name} ${connections}`;
      const us = cpuUs + databaseUs;
      if (!costs.has(key)) costs.set(key, us);
      return [
        title,
        Math.round(rate).toLocaleString('en'),
        p50Ms.toFixed(2),
        p99Ms.toFixed(2),
        `${((ours?.rate ?? 0) / rate).toFixed(2)} ×`,
        cpuUs.toFixed(0),
        databaseUs.toFixed(0),
        `${(us / ((ours?.cpuUs ?? 0) + (ours?.databaseUs ?? 0))).toFixed(2)} ×`,
        loadUs.toFixed(0),
        `${(us / (costs.get(key) ?? 0)).toFixed(2)} ×`,
      ];
    }),
  );
};

/** A database of its own; answers with its URL and the first process of the server. */
const createDatabase = async (serverUrl: string, scale: number) => {
  const url = new URL(serverUrl);
  url.pathname = `/graphql_${scale}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database graphql_${scale}`);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const { parentPid } = await statOf(rows[0].pid);
  await client.end();
  await using pool = openPool({ url: url.href, applicationName: 'bench', connectionsMax: 1, statementTimeoutMs: 600_000 });
  await writeData(pool, sizeOf(scale));
  await pool.query(TAGS_FOR_POSTGRAPHILE);
  return { url: url.href, postmasterPid: parentPid };
};

const measureScale = async (serverUrl: string, dataDir: string, scale: number): Promise<void> => {
  const { url, postmasterPid } = await createDatabase(serverUrl, scale);
  const mint = await createTokenMint();
  await using running = new AsyncDisposableStack();
  const servers: Server[] = [];
  for (const title of options.contenders.split(',')) {
    const server = running.use(
      title === 'ours'
        ? await startQueryRole(join(dataDir, `annals-${scale}`), { DATABASE_URL: url, PUBLIC_URL: AUDIENCE }, mint.jwks)
        : await startServer(`./graphql/${title}.ts`, [url, options.pool]),
    );
    servers.push({ title, url: title === 'ours' ? `${server.url}/graphql` : server.url, pid: server.pid });
  }
  const installation = { scale, size: sizeOf(scale), servers, viewers: await createViewers(mint), postmasterPid };
  await compareAnswers(installation);
  for (const read of options.reads.split(','))
    for (const connections of options.connections.split(',')) await measure(read, Number(connections), installation);
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using postgres = await startEmbeddedPostgres({ dataDir });
  for (const scale of options.scales.split(',')) await measureScale(postgres.url, dataDir, Number(scale));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
