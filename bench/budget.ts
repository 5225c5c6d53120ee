import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../shared/database/embedded.ts';
import { openPool } from '../shared/database/pool.ts';
import { STAGE_NAMES, sharesOf } from './budget/stages.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { POINT } from './graphql/queries.ts';
import { applyLoad } from './load.ts';
import { startAnnals, tokenOf } from './processes.ts';
import { printTable } from './table.ts';
import { type Contender, takeTurns } from './turns.ts';

// What a request costs, and where that goes: Annals as `npm start` runs it, with a token, rights, limits, headers, metrics, and a log line for each
// request. Processor time of the whole server process by request, and its parts by a profile taken apart from that. `--against` names the
// folder of another checkout, which takes turns with this one.
const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    requests: { type: 'string', default: 'point,item,list,post,mutation' },
    connections: { type: 'string', default: '32,1' },
    against: { type: 'string' },
    log: { type: 'string', default: 'info' },
    // A folder that keeps the profiles.
    profiles: { type: 'string' },
  },
});
const SIZE: Size = { users: 1_000, articles: 10_000, comments: 60_000 };
const JSON_TYPE = { 'content-type': 'application/json' };
const MS = Number(options.seconds) * 1_000;
const STRIDE = 7_919;
const DRAFT_EVERY = 10;

type Asked = { readonly path: string; readonly body?: string };
const graphql = (query: string, variables: object): Asked => ({ path: '/graphql', body: JSON.stringify({ query, variables }) });
const NEW = { title: 'On engines', body: 'An analytical one. '.repeat(12), tags: ['engines'] };
/** Each time another user or published article, all over the table. */
const placeOf = (count: number, size: number): number => (count * STRIDE) % size;
const articleOf = (count: number): number => {
  const place = placeOf(count, SIZE.articles);
  return FIRST_ID.articles + (place % DRAFT_EVERY === 0 ? place + 1 : place);
};
const REQUESTS: Readonly<Record<string, (count: number) => Asked>> = {
  point: (count) => graphql(POINT, { id: String(FIRST_ID.users + placeOf(count, SIZE.users)) }),
  item: (count) => ({ path: `/articles/${articleOf(count)}` }),
  list: () => ({ path: '/articles?status=published' }),
  post: () => ({ path: '/articles', body: JSON.stringify(NEW) }),
  mutation: () => graphql('mutation ($input: PostInput!) { createPost(input: $input) { id } }', { input: NEW }),
};

type Server = Awaited<ReturnType<typeof startAnnals>> & { readonly title: string; readonly profile: string };

const contenderOf = (server: Server, asked: (count: number) => Asked, connections: number): Contender => ({
  title: server.title,
  pid: server.pid,
  async run(durationMs) {
    const head = { ...JSON_TYPE, accept: '*/*', authorization: `Bearer ${await tokenOf(server, SCOPES)}` };
    let count = 0;
    let now = asked(0);
    return applyLoad({
      url: () => server.url + now.path,
      connections,
      durationMs,
      method: now.body === undefined ? 'GET' : 'POST',
      body: () => now.body ?? '',
      headers() {
        count += 1;
        now = asked(count);
        return head;
      },
    });
  },
});
const SCOPES = 'read:articles read:users read:comments write:articles';

/** A profile of its own, because to take one costs time too; only what it says of shares counts. */
const profileOf = async ({ pid, profile }: Server, contender: Contender, name: string): Promise<ReadonlyMap<string, number>> => {
  process.kill(Number(pid), 'SIGUSR2');
  await contender.run(MS);
  process.kill(Number(pid), 'SIGUSR2');
  for (;;) {
    await delay(LOOK_AGAIN_MS);
    const text = await readFile(profile, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    if (options.profiles !== undefined) await copyFile(profile, join(options.profiles, `${name}.cpuprofile`));
    await rm(profile);
    return sharesOf(JSON.parse(text));
  }
};
const LOOK_AGAIN_MS = 100;

const us = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const measure = async (connections: number, servers: readonly Server[]): Promise<void> => {
  const names = options.requests.split(',');
  const totals: string[][] = [];
  const columns: { readonly cpuUs: number; readonly shares: ReadonlyMap<string, number> }[] = [];
  for (const name of names) {
    const asked = REQUESTS[name];
    if (asked === undefined) throw new Error(`there is no request ${name}`);
    const measured = await takeTurns(
      servers.map((server) => contenderOf(server, asked, connections)),
      { rounds: Number(options.rounds), durationMs: MS },
    );
    for (const [{ title }, { rate, p50Ms, p99Ms, cpuUs }] of measured)
      totals.push([name, title, Math.round(rate).toLocaleString('en'), p50Ms.toFixed(2), p99Ms.toFixed(2), us(cpuUs)]);
    const [first] = measured;
    const [server] = servers;
    if (first === undefined || server === undefined) throw new Error('nothing was measured');
    columns.push({ cpuUs: first[1].cpuUs, shares: await profileOf(server, first[0], `${name}-${connections}`) });
  }
  printTable([`${connections} connections`, 'who', 'per second', 'p50 ms', 'p99 ms', 'CPU µs'], totals);
  printTable(
    [`${connections} connections, CPU µs`, ...names],
    [
      ...STAGE_NAMES.map((stage) => [stage, ...columns.map(({ cpuUs, shares }) => us(cpuUs * (shares.get(stage) ?? 0)))]),
      ['all', ...columns.map(({ cpuUs }) => us(cpuUs))],
    ],
  );
};

const dataDir = await mkdtemp(join(tmpdir(), 'annals-bench-'));
await chmod(dataDir, 0o755);
try {
  await using postgres = await startEmbeddedPostgres({ dataDir });
  await using running = new AsyncDisposableStack();
  const start = async (title: string, root?: string): Promise<Server> => {
    const url = new URL(postgres.url);
    url.pathname = `/${title}`;
    {
      await using pool = openPool({ url: postgres.url, applicationName: 'bench', connectionsMax: 1 });
      await pool.query(`create database ${title}`);
      await using own = openPool({ url: url.href, applicationName: 'bench', connectionsMax: 1, statementTimeoutMs: 600_000 });
      await writeData(own, SIZE);
    }
    const profile = join(dataDir, `${title}.cpuprofile`);
    const settings = { DATABASE_URL: url.href, LOG_LEVEL: options.log, PROFILE_TO: profile };
    const preload = ['--import', new URL('budget/profiler.ts', import.meta.url).href];
    return { ...running.use(await startAnnals(join(dataDir, title), settings, { root, nodeArguments: preload })), title, profile };
  };
  const servers = [await start('this'), ...(options.against === undefined ? [] : [await start('other', resolve(options.against))])];
  for (const connections of options.connections.split(',').map(Number)) await measure(connections, servers);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
