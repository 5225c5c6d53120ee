import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { createDatabase, postmasterOf } from './database.ts';
import { numbersOf, readOptions, turnsOf } from './options.ts';
import { commentsOf, compareAnswers, contendersOf, worksOf } from './pocketbase/contenders.ts';
import { copyFrom } from './pocketbase/data.ts';
import { databaseMebibytes, residentMebibytes } from './pocketbase/memory.ts';
import { buildPocketBase, startPocketBase } from './pocketbase/server.ts';
import { startAnnals } from './processes.ts';
import { untilProjected } from './projected.ts';
import { fillLog, MASTER_KEY } from './projection-log.ts';
import { runBenchOnPostgres } from './run-bench.ts';
import { measureCase } from './streams/fan-out.ts';
import { printTable } from './table.ts';
import { cpuUsOfDatabase, statOf, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Measures Annals, as `npm start` runs it, beside PocketBase, which is built here if Go is installed: reads
// of anonymous readers, writes of a user, one comment to subscribers, memory, and what an idle process costs.
// Both have the same articles and users, and the same rights. PocketBase has its database, SQLite, in its
// process; of ours, PostgreSQL is measured beside it. SQLite in PocketBase commits without waiting for the
// disk (`synchronous = normal`): a power failure can lose the last writes.
const options = readOptions({
  seconds: ['4', '0.7'],
  rounds: ['5', '5'],
  /** The events that ours is filled with; every sixth is a new article. */
  events: ['50000', '10000'],
  connections: ['1,32', '1,32'],
  subscribers: ['100', '100'],
  'idle-seconds': ['60', '10'],
});

const first = async (url: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    `select (select array_agg(id::int order by id) from read_model.articles where status = 'published') as ids,
            (select min(id)::int from read_model.users) as "userId"`,
  );
  await client.end();
  return rows[0] as { readonly ids: readonly number[]; readonly userId: number };
};

const MS_PER_US = 1_000;

const measureIdle = async (pids: readonly (number | undefined)[], postmasterPid: number) => {
  const look = async () => [
    ...(await Promise.all(pids.map(async (pid) => (await statOf(pid)).cpuUs))),
    await cpuUsOfDatabase(postmasterPid),
  ];
  const before = await look();
  const seconds = Number(options['idle-seconds']);
  await delay(seconds * 1_000);
  const after = await look();
  return after.map((us, place) => (us - (before[place] ?? 0)) / seconds / MS_PER_US);
};

const measure = async (serverUrl: string, folder: string, program: string): Promise<void> => {
  const databaseUrl = await createDatabase(serverUrl, 'ours');
  await fillLog(databaseUrl, Number(options.events));
  const settings = { DATABASE_URL: databaseUrl, MASTER_KEY, STREAMS_PER_OWNER_MAX: '1000000' };
  await using ours = await startAnnals(join(folder, 'annals'), settings);
  await untilProjected(databaseUrl);
  await using theirs = await startPocketBase(program, join(folder, 'pocketbase'));
  await copyFrom(databaseUrl, theirs);
  const known = await first(databaseUrl);
  const turns = { ...turnsOf(options), postmasterPid: await postmasterOf(serverUrl) };
  console.log(`${cpus().length} processors, load ${loadavg()[0]?.toFixed(1)}\n`);
  for (const [name, work] of Object.entries(worksOf(ours, theirs, known))) {
    if (name !== 'create') await compareAnswers(work);
    for (const connections of numbersOf(options.connections)) {
      const title = `${name}, ${connections} connections`;
      printTurns(title, title, await takeTurns(contendersOf(work, connections, { ours, theirs }), turns));
    }
  }
  {
    await using stack = new AsyncDisposableStack();
    const size = Number(options.subscribers);
    const served = await commentsOf(ours, theirs, { size, userId: known.userId, stack });
    await measureCase(`one comment to ${size}`, served, { size, events: 1 }, turns);
  }
  const [ourIdle, theirIdle, databaseIdle] = await measureIdle([ours.pid, theirs.pid], turns.postmasterPid);
  const rowOf = (title: string, megabytes: number, idle: number | undefined) => [
    title,
    megabytes.toFixed(0),
    (idle ?? Number.NaN).toFixed(1),
  ];
  printTable(
    ['after that', 'MiB resident', 'ms of CPU per idle second'],
    [
      rowOf('ours', await residentMebibytes(ours.pid), ourIdle),
      rowOf('its PostgreSQL', await databaseMebibytes(turns.postmasterPid), databaseIdle),
      rowOf('PocketBase', await residentMebibytes(theirs.pid), theirIdle),
    ],
  );
};

await runBenchOnPostgres(async (serverUrl, folder) => {
  const built = await buildPocketBase(folder);
  if ('program' in built) await measure(serverUrl, folder, built.program);
  else console.log(`PocketBase is not measured, because it cannot be built here: ${built.reason}`);
});
