import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { openPool } from '../shared/database/pool.ts';
import { createDatabase, postmasterOf } from './database.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { applyLoad } from './load.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { startAnnals, startServer, tokenOf } from './processes.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { type Contender, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Measures REST reads, each contender in a process of its own on the same database: Annals as `npm start`
// runs it, with rights, limits, entity tags, and metrics, against Express, Fastify and node:http with
// statements by hand, which answer the same JSON and do nothing else. The last column compares the cost of a
// request with that at the first scale.
const options = readOptions({
  seconds: ['3', '0.7'],
  rounds: ['5', '5'],
  scales: ['1,10', '1'],
  reads: ['item,list', 'item,list'],
  connections: ['1,32', '1,32'],
  contenders: ['ours,gzip,br,zstd,token,express,fastify,node-http', 'ours,token,express,fastify,node-http'],
  // `info` logs every request, to nowhere.
  log: ['warn', 'warn'],
});
const sizeOf = (scale: number): Size => ({
  users: 1_000 * scale,
  articles: 10_000 * scale,
  comments: 60_000 * scale,
});

const DRAFT_EVERY = 10;
/** Another published article each time, all over the table. */
const itemPaths = ({ articles }: Size): (() => string) => {
  let count = 0;
  return () => {
    count += 1;
    const index = (count * 7_919) % articles;
    return `/articles/${FIRST_ID.articles + (index % DRAFT_EVERY === 0 ? index + 1 : index)}`;
  };
};
const READS: Readonly<Record<string, (size: Size) => () => string>> = {
  item: itemPaths,
  // Without drafts, so that every reader gets the same answer.
  list: () => () => '/articles?status=published',
};

type Server = {
  readonly title: string;
  readonly url: string;
  readonly pid: number | undefined;
  head(): Promise<Record<string, string>>;
};

const contenderOf = (
  { title, url, pid, head }: Server,
  path: () => string,
  connections: number,
): Contender => ({
  title,
  pid,
  async run(durationMs) {
    const headers = await head();
    return applyLoad({ url: () => url + path(), connections, durationMs, headers: () => headers });
  },
});

/** A contender with another answer would do other work. */
const compareAnswers = async (servers: readonly Server[], path: string): Promise<void> => {
  const answers = await Promise.all(
    servers.map(async ({ url, head }) => (await fetch(url + path, { headers: await head() })).text()),
  );
  for (const [index, answer] of answers.entries())
    if (!isDeepStrictEqual(JSON.parse(answer), JSON.parse(answers[0] ?? '')))
      throw new Error(
        `${servers[index]?.title}: ${answer.slice(0, 500)}\nand not ${answers[0]?.slice(0, 500)}`,
      );
};

type Reads = { readonly scale: number; readonly servers: readonly Server[]; readonly postmasterPid: number };

const measure = async (
  read: string,
  connections: number,
  { scale, servers, postmasterPid }: Reads,
): Promise<void> => {
  const path = READS[read]?.(sizeOf(scale));
  if (path === undefined) throw new Error(`there is no read ${read}`);
  await compareAnswers(servers, path());
  const contenders = servers.map((server) => contenderOf(server, path, connections));
  const name = `REST ${read}, ${connections} connections`;
  printTurns(
    `${name}, ${scale} ×`,
    name,
    await takeTurns(contenders, { ...turnsOf(options), postmasterPid }),
  );
};

const OURS: Readonly<Record<string, string>> = {
  ours: 'ours',
  gzip: 'ours, gzip',
  br: 'ours, br',
  zstd: 'ours, zstd',
  token: 'ours, with a token',
};
const PEERS: Readonly<Record<string, string>> = {
  express: 'Express and SQL',
  fastify: 'Fastify and SQL',
  'node-http': 'node:http and SQL',
};

const measureScale = async (serverUrl: string, folder: string, scale: number): Promise<void> => {
  const url = await createDatabase(serverUrl, `reads_${scale}`);
  {
    await using pool = openPool({
      url,
      applicationName: 'bench',
      connectionsMax: 1,
      statementTimeoutMs: 600_000,
    });
    await writeData(pool, sizeOf(scale));
  }
  // The rows come from no log, and a verification would report that.
  const settings = {
    DATABASE_URL: url,
    AUDIT_WATCH_EVENTS_PER_SECOND: '0',
    ...(options.log !== 'warn' && { LOG_LEVEL: options.log }),
  };
  await using running = new AsyncDisposableStack();
  const ours = running.use(await startAnnals(join(folder, `annals-${scale}`), settings));
  const headOf = async (name: string): Promise<Record<string, string>> => {
    if (name === 'token')
      return { authorization: `Bearer ${await tokenOf(ours, 'read:articles read:users read:comments')}` };
    return name === 'ours' ? {} : { 'accept-encoding': name };
  };
  const servers: Server[] = [];
  for (const name of listOf(options.contenders)) {
    const title = OURS[name];
    if (title !== undefined) servers.push({ ...ours, title, head: () => headOf(name) });
    else
      servers.push({
        ...running.use(await startServer(`./rest/${name}.ts`, [url])),
        title: PEERS[name] ?? name,
        head: async () => ({}),
      });
  }
  const reads = { scale, servers, postmasterPid: await postmasterOf(serverUrl) };
  for (const read of listOf(options.reads))
    for (const connections of numbersOf(options.connections)) await measure(read, connections, reads);
};

await runBenchOnPostgres(async (serverUrl, folder) => {
  for (const scale of numbersOf(options.scales)) await measureScale(serverUrl, folder, scale);
});
