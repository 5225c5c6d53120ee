// Takes minutes, so it starts first.
import { readdir, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCluster } from '#adapters/embedded-postgres/cluster.ts';
import { readPostmaster } from '#adapters/embedded-postgres/postmaster.ts';
import { until } from '../../testing/until.ts';
import { runAnnals, spawnAnnals, startAnnals } from '../annals-process.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';

// Own server: it tests the start of one process.

const draft = JSON.stringify({ articleId: 42, authorId: 7, title: 'One', body: '', tags: [], cover: null });
const appendDraft = ['annals.ts', 'log', 'append', 'article-42', 'article.drafted', draft];

const isServing = async (dataDir: string): Promise<boolean> => {
  const cluster = await readCluster(dataDir);
  return cluster !== undefined && (await readPostmaster(cluster.pgdata)) !== undefined;
};

test('a start in an empty folder is ready, names what it has made, and stops with exit code 0', async () => {
  await using dataDir = await temporaryDataDir();
  await using annals = await startAnnals({ DATA_DIR: dataDir.path });
  expect((await fetch(`${annals.url}/livez`)).status).toBe(200);
  expect(await (await fetch(`${annals.url}/readyz`)).json()).toMatchObject({ status: 'ready' });
  expect(await (await fetch(annals.url)).json()).toMatchObject({
    name: 'annals',
    _links: { ready: { href: '/readyz' } },
  });
  expect(annals.output()).toContain('Try next:');
  expect(annals.output()).toContain(`Annals is at http://localhost:${new URL(annals.url).port}\n`);
  annals.child.kill('SIGTERM');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).not.toContain('"msg":"request"');
  expect(await isServing(dataDir.path)).toBe(false);
});

test('a second start keeps the data, even if the first was killed', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  await using first = await startAnnals(environment);
  expect(await runAnnals(appendDraft, environment)).toMatchObject({ exit: 0 });
  first.child.kill('SIGKILL');
  await first.exited;
  await using _second = await startAnnals(environment);
  const tail = await runAnnals(['annals.ts', 'log', 'tail'], environment);
  expect(tail.output).toContain('article-42@1  article.drafted');
});

test('of two starts on one data folder the second exits with the reason', async () => {
  await using dataDir = await temporaryDataDir();
  await using first = await startAnnals({ DATA_DIR: dataDir.path });
  const second = await runAnnals(['main.ts'], { DATA_DIR: dataDir.path });
  expect(second.exit).toBe(1);
  expect(second.output).toBe(
    `The data folder ${dataDir.path} is in use by another Annals process (process ${first.child.pid}): stop that one, or set DATA_DIR to another folder.\n`,
  );
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
});

test('the command line starts the database for as long as needed', async () => {
  await using dataDir = await temporaryDataDir();
  const environment = { DATA_DIR: dataDir.path };
  expect(await runAnnals(appendDraft, environment)).toMatchObject({
    exit: 1,
    output: expect.stringContaining('There is no data in'),
  });
  await using annals = await startAnnals(environment);
  annals.child.kill('SIGTERM');
  await annals.exited;
  expect(await runAnnals(appendDraft, environment)).toMatchObject({ exit: 0 });
  expect(await isServing(dataDir.path)).toBe(false);
});

test('wrong settings are one sentence each, with exit code 78', async () => {
  const { exit, output } = await runAnnals(['main.ts'], { PORT: 'abc', NODE_ENV: 'production' });
  expect(exit).toBe(78);
  expect(output.trim().split('\n')).toEqual([
    expect.stringMatching(/^PORT is “abc”/),
    expect.stringMatching(/^MASTER_KEY is missing/),
    expect.stringMatching(/^PUBLIC_URL is missing/),
  ]);
});

test('ports in use are one sentence each, before a database is made', async () => {
  await using dataDir = await temporaryDataDir();
  await using other = await temporaryDataDir();
  await using first = await startAnnals({ DATA_DIR: dataDir.path });
  const { port } = new URL(first.url);
  const second = await runAnnals(['main.ts'], {
    DATA_DIR: other.path,
    PORT: port,
    METRICS_PORT: port,
    LOG_LEVEL: 'silent',
  });
  expect(second).toEqual({
    exit: 1,
    output: ['PORT', 'METRICS_PORT']
      .map(
        (setting) =>
          `Port ${port} is in use: stop the program that has it, or set ${setting} to another port (0 takes any free one).\n`,
      )
      .join(''),
  });
  expect(await readdir(other.path)).toEqual([]);
});

test('a folder without write permission is one sentence', async () => {
  await using dataDir = await temporaryDataDir();
  const file = join(dataDir.path, 'file');
  await writeFile(file, '');
  const advice = 'set DATA_DIR to a folder that this user can write to.\n';
  const refused = [
    [file, 'is not a folder'],
    [join(file, 'below'), 'is inside a file, not a folder'],
    // Node itself never returns from making a folder there.
    ...(platform() === 'linux' ? [['/proc/annals', 'does not exist']] : []),
  ] as const;
  for (const [folder = '', reason] of refused) {
    expect(await runAnnals(['main.ts'], { DATA_DIR: folder })).toEqual({
      exit: 1,
      output: `The folder ${folder} ${reason}: ${advice}`,
    });
  }
});

test('Ctrl+C while the database is made stops cleanly and leaves nothing behind', async () => {
  await using dataDir = await temporaryDataDir();
  await using annals = spawnAnnals(['main.ts'], { DATA_DIR: dataDir.path }, { detached: true });
  const { pid = Number.NaN } = annals.child;
  const files = async () =>
    (await readdir(dataDir.path, { recursive: true })).filter((name) => name.includes('PG_VERSION'));
  await until(files, (found) => found.length > 0);
  // As a terminal sends it: to the whole group.
  process.kill(-pid, 'SIGINT');
  expect(await annals.exited).toBe(0);
  expect(annals.output()).toContain('Stopped before the database was created; nothing is left behind.\n');
  expect(await readdir(dataDir.path)).toEqual([]);
});

test('a start explains itself and prints its version, and refuses any other argument', async () => {
  expect(await runAnnals(['main.ts', '--help'])).toEqual({
    exit: 0,
    output: expect.stringMatching(/^Starts Annals[\s\S]*Usage: npm start\n/),
  });
  expect(await runAnnals(['query/main.ts', '--help'])).toEqual({
    exit: 0,
    output: expect.stringContaining('Usage: node query/main.ts\n'),
  });
  expect(await runAnnals(['main.ts', 'query', '--help'])).toEqual({
    exit: 0,
    output: expect.stringContaining('Usage: node main.ts query\n'),
  });
  expect(await runAnnals(['main.ts', 'query', 'more'])).toEqual({
    exit: 64,
    output: expect.stringContaining('There is no argument more'),
  });
  expect(await runAnnals(['main.ts', 'log', 'tail', '--help'])).toEqual({
    exit: 0,
    output: expect.stringContaining('log tail'),
  });
  expect(await runAnnals(['main.ts', '--version'])).toEqual({
    exit: 0,
    output: expect.stringMatching(/^annals \d+\.\d+\.\d+ /),
  });
  expect(await runAnnals(['main.ts', '--port', '4001'])).toEqual({
    exit: 64,
    output:
      'There is no option --port: Annals is configured by environment variables (more: npm start -- --help).\n',
  });
});
