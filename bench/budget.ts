import { copyFile, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '../shared/database/pool.ts';
import { STAGE_NAMES, sharesOf } from './budget/stages.ts';
import { createDatabase } from './database.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { POINT } from './graphql/queries.ts';
import { applyLoad } from './load.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { startAnnals, tokenOf } from './processes.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { printTable } from './table.ts';
import { type Contender, takeTurns } from './turns.ts';

// Measures the cost of a request and its parts: Annals as `npm start` runs it, with a token, rights, limits,
// headers, metrics, and a log line for each request. Reports CPU time of the whole server process per
// request, and its parts by a separate profile. `--against` names the folder of another checkout, which takes
// turns with this one; `--profiles` a folder for the profiles.
const options = readOptions({
  seconds: ['3', '0.7'],
  rounds: ['3', '3'],
  requests: ['point,item,list,post,mutation', 'point,item,list,post,mutation'],
  connections: ['32,1', '32,1'],
  // `warn` omits the lines of requests.
  log: ['info', 'info'],
  against: ['', ''],
  profiles: ['', ''],
});
const turns = turnsOf(options);
const SIZE: Size = { users: 1_000, articles: 10_000, comments: 60_000 };
const JSON_TYPE = { 'content-type': 'application/json' };
const STRIDE = 7_919;
const DRAFT_EVERY = 10;

type Asked = { readonly path: string; readonly body?: string };
const graphql = (query: string, variables: object): Asked => ({
  path: '/graphql',
  body: JSON.stringify({ query, variables }),
});
const NEW = { title: 'On engines', body: 'An analytical one. '.repeat(12), tags: ['engines'] };
/** Another user or published article each time, all over the table. */
const spread = (count: number, size: number): number => (count * STRIDE) % size;
const articleOf = (count: number): number => {
  const row = spread(count, SIZE.articles);
  return FIRST_ID.articles + (row % DRAFT_EVERY === 0 ? row + 1 : row);
};
const REQUESTS: Readonly<Record<string, (count: number) => Asked>> = {
  point: (count) => graphql(POINT, { id: String(FIRST_ID.users + spread(count, SIZE.users)) }),
  item: (count) => ({ path: `/articles/${articleOf(count)}` }),
  list: () => ({ path: '/articles?status=published' }),
  post: () => ({ path: '/articles', body: JSON.stringify(NEW) }),
  mutation: () =>
    graphql('mutation ($input: PostInput!) { createPost(input: $input) { id } }', { input: NEW }),
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

/** Profiled in a separate run, because profiling costs CPU time itself; only the shares are used. */
const profileOf = async (
  { pid, profile }: Server,
  contender: Contender,
  name: string,
): Promise<ReadonlyMap<string, number>> => {
  process.kill(Number(pid), 'SIGUSR2');
  await contender.run(turns.durationMs);
  process.kill(Number(pid), 'SIGUSR2');
  for (;;) {
    await delay(LOOK_AGAIN_MS);
    const text = await readFile(profile, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    if (options.profiles !== '') await copyFile(profile, join(options.profiles, `${name}.cpuprofile`));
    await rm(profile);
    return sharesOf(JSON.parse(text));
  }
};
const LOOK_AGAIN_MS = 100;

const us = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const measure = async (connections: number, servers: readonly Server[]): Promise<void> => {
  const names = listOf(options.requests);
  const totals: string[][] = [];
  const columns: { readonly cpuUs: number; readonly shares: ReadonlyMap<string, number> }[] = [];
  for (const name of names) {
    const asked = REQUESTS[name];
    if (asked === undefined) throw new Error(`there is no request ${name}`);
    const measured = await takeTurns(
      servers.map((server) => contenderOf(server, asked, connections)),
      turns,
    );
    for (const [{ title }, { rate, p50Ms, p99Ms, cpuUs }] of measured)
      totals.push([
        name,
        title,
        Math.round(rate).toLocaleString('en'),
        p50Ms.toFixed(2),
        p99Ms.toFixed(2),
        us(cpuUs),
      ]);
    const [first] = measured;
    const [server] = servers;
    if (first === undefined || server === undefined) throw new Error('nothing was measured');
    columns.push({
      cpuUs: first[1].cpuUs,
      shares: await profileOf(server, first[0], `${name}-${connections}`),
    });
  }
  printTable([`${connections} connections`, 'who', 'per second', 'p50 ms', 'p99 ms', 'CPU µs'], totals);
  printTable(
    [`${connections} connections, CPU µs`, ...names],
    [
      ...STAGE_NAMES.map((stage) => [
        stage,
        ...columns.map(({ cpuUs, shares }) => us(cpuUs * (shares.get(stage) ?? 0))),
      ]),
      ['all', ...columns.map(({ cpuUs }) => us(cpuUs))],
    ],
  );
};

await runBenchOnPostgres(async (serverUrl, folder) => {
  await using running = new AsyncDisposableStack();
  const fill = async (title: string): Promise<string> => {
    const databaseUrl = await createDatabase(serverUrl, title);
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'bench',
      connectionsMax: 1,
      statementTimeoutMs: 600_000,
    });
    await writeData(pool, SIZE);
    return databaseUrl;
  };
  const start = async (title: string, databaseUrl: string, root?: string): Promise<Server> => {
    const profile = join(folder, `${title}.cpuprofile`);
    const settings = { DATABASE_URL: databaseUrl, LOG_LEVEL: options.log, PROFILE_TO: profile };
    const nodeArguments = ['--import', new URL('budget/profiler.ts', import.meta.url).href];
    return {
      ...running.use(await startAnnals(join(folder, title), settings, { root, nodeArguments })),
      title,
      profile,
    };
  };
  const filled = [await fill('this'), ...(options.against === '' ? [] : [await fill('other')])];
  // Both at the same time: a server that has been idle for some seconds takes 25 % more CPU.
  const servers = await Promise.all(
    filled.map((url, index) =>
      index === 0 ? start('this', url) : start('other', url, resolve(options.against)),
    ),
  );
  for (const connections of numbersOf(options.connections)) await measure(connections, servers);
});
