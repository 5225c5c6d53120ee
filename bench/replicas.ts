import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openPool } from '../shared/database/pool.ts';
import { startSystemPostgres } from '../test/engines/system-postgres.ts';
import { FIRST_ID, type Size, writeData } from './graphql/data.ts';
import { applyLoad } from './load.ts';
import { listOf, numbersOf, readOptions, turnsOf } from './options.ts';
import { startAnnals } from './processes.ts';
import { runBench } from './run-bench.ts';
import { type Contender, takeTurns } from './turns.ts';
import { printTurns } from './turns-table.ts';

// Reads with streaming replicas and without: the same installation twice, on one primary. Every read asks the
// primary for its position first. All servers share this machine, so replicas add no processors here: the
// bench shows what the choice costs, and how much work the primary is spared.
const options = readOptions({
  seconds: ['3', '0.7'],
  rounds: ['5', '3'],
  reads: ['item,list', 'item,list'],
  connections: ['1,32', '32'],
  replicas: ['2', '2'],
});
const SIZE: Size = { users: 1_000, articles: 10_000, comments: 60_000 };
const STRIDE = 7_919;
const DRAFT_EVERY = 10;

const itemPaths = (): (() => string) => {
  let count = 0;
  return () => {
    count += 1;
    const index = (count * STRIDE) % SIZE.articles;
    return `/articles/${FIRST_ID.articles + (index % DRAFT_EVERY === 0 ? index + 1 : index)}`;
  };
};
const READS: Readonly<Record<string, () => () => string>> = {
  item: itemPaths,
  list: () => () => '/articles?status=published',
};

await runBench(async (folder) => {
  await using running = new AsyncDisposableStack();
  const primary = running.use(await startSystemPostgres());
  await primary.start();
  await primary.createDatabase();
  {
    await using pool = openPool({
      url: primary.url,
      applicationName: 'bench',
      connectionsMax: 1,
      statementTimeoutMs: 600_000,
    });
    await writeData(pool, SIZE);
  }
  const replicas = await Promise.all(
    Array.from({ length: Number(options.replicas) }, async () => {
      const replica = running.use(await startSystemPostgres());
      await replica.followPrimary(primary.url);
      return replica.url;
    }),
  );
  const settings = {
    DATABASE_URL: primary.url,
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    // The rows come from no log, which a verification would report.
    AUDIT_WATCH_EVENTS_PER_SECOND: '0',
  };
  const alone = running.use(await startAnnals(join(folder, 'alone'), settings));
  const spread = running.use(
    await startAnnals(join(folder, 'spread'), { ...settings, READ_DATABASE_URL: replicas.join() }),
  );
  const contenders = (path: () => string, connections: number): readonly Contender[] =>
    [
      { title: `ours, ${replicas.length} replicas`, server: spread },
      { title: 'ours, the primary alone', server: alone },
    ].map(({ title, server: { url, pid } }) => ({
      title,
      pid,
      run: (durationMs) =>
        applyLoad({ url: () => url + path(), connections, durationMs, headers: () => ({}) }),
    }));
  const [pid] = (await readFile(join(primary.pgdata, 'postmaster.pid'), 'utf8')).split('\n');
  const turns = { ...turnsOf(options), postmasterPid: Number(pid) };
  for (const connections of numbersOf(options.connections))
    for (const read of listOf(options.reads)) {
      const pathsOf = READS[read];
      if (pathsOf === undefined) throw new Error(`there is no read ${read}`);
      const name = `replicas: REST ${read}, ${connections} connections`;
      printTurns(name, name, await takeTurns(contenders(pathsOf(), connections), turns));
    }
});
