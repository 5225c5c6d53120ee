import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { applyLoad } from './load.ts';
import { startAnnals, startServer, tokenOf } from './processes.ts';
import { printTable } from './table.ts';
import { type Contender, takeTurns } from './turns.ts';

// REST reads, each contender in a process of its own on the same database: Annals as `npm start` runs it, with rights, limits, entity tags,
// and metrics, against node:http and Express with statements by hand, which answer the same JSON and do nothing else.
// The last column compares the cost of a request with that at the first scale.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    scales: { type: 'string', default: '1,10' },
    reads: { type: 'string', default: 'item,list' },
    connections: { type: 'string', default: '1,32' },
    // `info` logs every request, to nowhere.
    log: { type: 'string', default: 'warn' },
  },
});
const turns = { rounds: Number(options.rounds), durationMs: Number(options.seconds) * 1_000 };
const sizeOf = (scale: number): Size => ({ users: 1_000 * scale, articles: 10_000 * scale, comments: 60_000 * scale });

const DRAFT_EVERY = 10;
/** Each time another published article, all over the table. */
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
  // Whoever may read drafts reads the same.
  list: () => () => '/articles?status=published',
};

type Server = { readonly title: string; readonly url: string; readonly pid: number | undefined; head(): Promise<Record<string, string>> };

const contenderOf = ({ title, url, pid, head }: Server, path: () => string, connections: number): Contender => ({
  title,
  pid,
  async run(durationMs) {
    const headers = await head();
    return applyLoad({ url: () => url + path(), connections, durationMs, headers: () => headers });
  },
});

/** Whoever answers something else does other work. */
const compareAnswers = async (servers: readonly Server[], path: string): Promise<void> => {
  const answers = await Promise.all(servers.map(async ({ url, head }) => (await fetch(url + path, { headers: await head() })).text()));
  for (const [index, answer] of answers.entries())
    if (!isDeepStrictEqual(JSON.parse(answer), JSON.parse(answers[0] ?? '')))
      throw new Error(`${servers[index]?.title}: ${answer.slice(0, 500)}\nand not ${answers[0]?.slice(0, 500)}`);
};

const costs = new Map<string, number>();

const measure = async (scale: number, name: string, connections: number, servers: readonly Server[]): Promise<void> => {
  const path = READS[name]?.(sizeOf(scale));
  if (path === undefined) throw new Error(`there is no read ${name}`);
  await compareAnswers(servers, path());
  const measured = await takeTurns(
    servers.map((server) => contenderOf(server, path, connections)),
    turns,
  );
  const ours = [...measured.values()][0]?.rate ?? 0;
  printTable(
    [`${name}, ${connections} connections, ${scale} ×`, 'per second', 'p50 ms', 'p99 ms', 'CPU µs', 'ours is', `cost`],
    [...measured].map(([{ title }, { rate, p50Ms, p99Ms, cpuUs }]) => {
      const key = `${title} ${name} ${connections}`;
      if (!costs.has(key)) costs.set(key, 1 / rate);
      return [
        title,
        Math.round(rate).toLocaleString('en'),
        p50Ms.toFixed(2),
        p99Ms.toFixed(2),
        cpuUs.toFixed(0),
        `${(ours / rate).toFixed(2)} ×`,
        `${(1 / rate / (costs.get(key) ?? 0)).toFixed(2)} ×`,
      ];
    }),
  );
};

const measureScale = async (serverUrl: string, dataDir: string, scale: number): Promise<void> => {
  const url = new URL(serverUrl);
  url.pathname = `/reads_${scale}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database reads_${scale}`);
  await client.end();
  {
    await using pool = openPool({ url: url.href, applicationName: 'bench', connectionsMax: 1, statementTimeoutMs: 600_000 });
    await writeData(pool, sizeOf(scale));
  }
  const settings = { DATABASE_URL: url.href, ...(options.log !== 'warn' && { LOG_LEVEL: options.log }) };
  await using ours = await startAnnals(join(dataDir, `annals-${scale}`), settings);
  await using express = await startServer('./rest/express.ts', [url.href]);
  await using plain = await startServer('./rest/node-http.ts', [url.href]);
  const anonymous = async () => ({});
  const withToken = async () => ({ authorization: `Bearer ${await tokenOf(ours, 'read:articles read:users read:comments')}` });
  const servers: readonly Server[] = [
    { ...ours, title: 'ours', head: anonymous },
    { ...ours, title: 'ours, gzip', head: async () => ({ 'accept-encoding': 'gzip' }) },
    { ...ours, title: 'ours, br', head: async () => ({ 'accept-encoding': 'br' }) },
    { ...ours, title: 'ours, zstd', head: async () => ({ 'accept-encoding': 'zstd' }) },
    { ...ours, title: 'ours, with a token', head: withToken },
    { ...express, title: 'Express and SQL', head: anonymous },
    { ...plain, title: 'node:http and SQL', head: anonymous },
  ];
  for (const read of options.reads.split(','))
    for (const connections of options.connections.split(',')) await measure(scale, read, Number(connections), servers);
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using postgres = await startEmbeddedPostgres({ dataDir });
  for (const scale of options.scales.split(',')) await measureScale(postgres.url, dataDir, Number(scale));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
