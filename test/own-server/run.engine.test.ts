import { globSync } from 'node:fs';
import { expect } from 'vitest';
import { readCluster } from '#adapters/embedded-postgres/cluster.ts';
import { readPostmaster } from '#adapters/embedded-postgres/postmaster.ts';
import { until } from '../../testing/until.ts';
import { runAnnals, spawnAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startEventStoreProcess } from '../engines/eventstoredb/process.ts';
import { test } from '../engines/folder-fixture.ts';

// Own server: it tests the life of one process.

const IMPORTS = `import '#shared/needed/all.ts'; import { publishing } from '#domain/publishing.ts'; import { run } from '#process/run.ts';`;

/** A process that runs the given code, with its context in scope. */
const living = (work: string, environment: Record<string, string> = {}) => {
  const code = `${IMPORTS} await run(async ({ config, resources, log, signal }) => { ${work} }, { domain: publishing });`;
  return [['--input-type=module', '--eval', code], environment] as const;
};

const FOREVER = `setInterval(() => {}, 1_000); log.info('started');`;
const NEVER_STOPS = `resources.defer(() => new Promise(() => {})); ${FOREVER}`;

test('resources are disposed in reverse', async () => {
  await using annals = spawnAnnals(
    ...living(`resources.defer(() => log.info('one')); resources.defer(() => log.info('two')); ${FOREVER}`),
  );
  await annals.said(/started/);
  annals.child.kill('SIGINT');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).toMatch(/two[\s\S]*one/);
});

test('every process notes itself until it ends, so that no install takes its packages away', async () => {
  const notesOf = (pid = 0) => globSync(`node_modules/.annals-running/${pid}.*`);
  await using annals = spawnAnnals(...living(FOREVER));
  await annals.said(/started/);
  expect(notesOf(annals.child.pid)).toHaveLength(1);
  annals.child.kill('SIGINT');
  await annals.exited;
  expect(notesOf(annals.child.pid)).toEqual([]);
});

test('a stop that takes too long is cut off with exit code 1', async () => {
  await using annals = spawnAnnals(...living(NEVER_STOPS, { DRAIN_MS: '100' }));
  await annals.said(/started/);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(1);
  expect(annals.output()).toContain('Stopping took too long');
});

test('a stop that is cut off leaves no embedded PostgreSQL behind', async () => {
  await using dataDir = await temporaryDataDir();
  const work = `const { openDatabase } = await import('#process/engines/open-database.ts');
    resources.use(await openDatabase(config, { log, signal }));`;
  await using annals = spawnAnnals(
    ...living(`${work} ${NEVER_STOPS}`, { DRAIN_MS: '100', DATA_DIR: dataDir.path }),
  );
  await annals.said(/started/);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(1);
  const cluster = await readCluster(dataDir.path);
  await until(
    () => readPostmaster(cluster?.pgdata ?? ''),
    (server) => server === undefined,
  );
});

test('a stop at the beginning of an outage of the log leaves no embedded PostgreSQL behind', async () => {
  await using dataDir = await temporaryDataDir();
  await using eventStore = await startEventStoreProcess();
  await using annals = spawnAnnals(['main.ts'], {
    DATA_DIR: dataDir.path,
    EVENT_LOG_URL: eventStore.address,
  });
  await annals.said(/Annals is ready/);
  const cluster = await readCluster(dataDir.path);
  expect(await readPostmaster(cluster?.pgdata ?? '')).toBeDefined();
  await eventStore.signal('SIGKILL');
  annals.child.kill('SIGTERM');
  // The process may be cut off, because what waits for the log waits for as long as a stop may take.
  expect([0, 1]).toContain(await annals.exited);
  await until(
    () => readPostmaster(cluster?.pgdata ?? ''),
    (server) => server === undefined,
  );
});

test('a sign-up role that the domain lacks is refused before the start', async () => {
  expect(await runAnnals(...living(FOREVER, { SIGNUP: 'pupil' }))).toEqual({
    exit: 78,
    output: 'SIGNUP is pupil, but must be off or a role of publishing: reader, author.\n',
  });
});

test('a second signal exits at once, but a duplicate of the same one does not count', async () => {
  await using annals = spawnAnnals(...living(`resources.defer(() => log.info('disposing')); ${NEVER_STOPS}`));
  await annals.said(/started/);
  annals.child.kill('SIGINT');
  annals.child.kill('SIGINT');
  await annals.said(/Stopping/);
  const pressing = setInterval(() => annals.child.kill('SIGINT'), 100);
  expect(await annals.exited).toBe(130);
  clearInterval(pressing);
});

test('a failed start is logged, opened resources are closed, and the exit code is 1', async () => {
  const { exit, output } = await runAnnals(
    ...living(`resources.defer(() => log.info('closed')); throw new Error('no such luck');`),
  );
  expect(exit).toBe(1);
  expect(output).toContain('no such luck');
  expect(output).toContain('closed');
});

test('a later unexpected failure is logged and ends the process cleanly with exit code 1', async () => {
  const work = `resources.defer(() => log.info('closed')); setTimeout(() => Promise.reject(new Error('out of the blue')), 10); ${FOREVER}`;
  const { exit, output } = await runAnnals(...living(work));
  expect(exit).toBe(1);
  expect(output).toContain('out of the blue');
  expect(output).toContain('closed');
});

test('a signal during the start takes effect after it', async () => {
  const work = `${FOREVER} await new Promise((done) => process.once('SIGTERM', done)); resources.defer(() => log.info('closed'));`;
  await using annals = spawnAnnals(...living(work));
  await annals.said(/started/);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).toContain('closed');
});

test('the compile cache is kept for the next start, even if the process is killed', async ({ folder }) => {
  const work = `setInterval(() => log.info('still running'), 10);`;
  await using annals = spawnAnnals(...living(work, { NODE_COMPILE_CACHE: folder }));
  // The timer fires only after the process is ready.
  await annals.said(/still running/);
  annals.child.kill('SIGKILL');
  await annals.exited;
  expect(globSync('**/*', { cwd: folder }).length).toBeGreaterThan(100);
});
