import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test as base, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { lockedFile, tokenFile } from './token-file.ts';

/** A lock expires sooner, but later than a living process on a busy machine touches it. */
const SOON = { livesEveryMs: 50, silenceMaxMs: 1_000, lookEveryMs: 20 };
const open = (path: string) => lockedFile(path, SOON);

/** Concurrent, because three tests wait until the lock of a killed or paused process expires. */
const test = base.extend('file', 'session.json').extend('path', async ({ file }, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-'));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'of', 'expenses', file);
}).concurrent;

/** Another process, which runs this code with a store at the path. */
const start = (path: string, body: string, times = SOON) => {
  const module = JSON.stringify(new URL('token-file.ts', import.meta.url).href);
  const store = `lockedFile(${JSON.stringify(path)}, ${JSON.stringify(times)})`;
  const script = `import { lockedFile } from ${module};\nconst store = ${store};\n${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { child, ended: once(child, 'exit') };
};

const modeOf = async (of: string) => ((await stat(of)).mode & 0o777).toString(8);

test('only the owner can read the stored tokens, whatever was there before', async ({ path }) => {
  const store = tokenFile(path);
  await store.update(async () => 'one');
  expect([await modeOf(path), await modeOf(dirname(path))]).toEqual(['600', '700']);
  await writeFile(path, 'two', { mode: 0o644 });
  await rm(path);
  await writeFile(path, 'two', { mode: 0o644 });
  await store.update(async (kept) => `${kept}, three`);
  expect([await readFile(path, 'utf8'), await modeOf(path)]).toEqual(['two, three', '600']);
  expect(await readdir(dirname(path))).toEqual(['session.json']);
});

test('deleted tokens leave nothing, and a failed change changes nothing', async ({ path }) => {
  const store = tokenFile(path);
  await store.update(async () => 'one');
  const failing = store.update(async () => {
    throw new Error('no answer');
  });
  await expect(failing).rejects.toThrow('no answer');
  expect(await readFile(path, 'utf8')).toBe('one');
  await store.update(async () => undefined);
  expect(await readdir(dirname(path))).toEqual([]);
});

const PROCESSES = 4;
const TIMES = 25;

test('processes change the file one after the other', async ({ path }) => {
  const counting = `for (let times = 0; times < ${TIMES}; times++) await store.update(async (kept) => {
    await new Promise(setImmediate);
    return String(Number(kept ?? 0) + 1);
  });`;
  const started = Array.from({ length: PROCESSES }, () =>
    start(path, counting, { ...SOON, silenceMaxMs: 60_000 }),
  );
  const codes = await Promise.all(started.map(async ({ ended }) => (await ended)[0]));
  expect(codes).toEqual(Array(PROCESSES).fill(0));
  expect(await readFile(path, 'utf8')).toBe(String(PROCESSES * TIMES));
});

test('a process killed with the lock blocks others for a while only', async ({ path }) => {
  const { child, ended } = start(
    path,
    `await store.update(() => new Promise(() => setInterval(() => {}, 1_000)));`,
  );
  await until(
    () => readFile(`${path}.lock`, 'utf8').catch(() => ''),
    (name) => name !== '',
  );
  child.kill('SIGKILL');
  await ended;
  let inLock = 0;
  const counts = await Promise.all(
    Array.from({ length: 3 }, async () => {
      let most = 0;
      await open(path).update(async (kept) => {
        most = ++inLock;
        await new Promise(setImmediate);
        inLock--;
        return `${kept ?? ''}x`;
      });
      return most;
    }),
  );
  expect(counts).toEqual([1, 1, 1]);
  expect([await readFile(path, 'utf8'), await readdir(dirname(path))]).toEqual(['xxx', ['session.json']]);
});

test('a process that was paused until it lost the lock does not overwrite newer tokens', async ({ path }) => {
  const { child, ended } = start(
    path,
    `import { existsSync } from 'node:fs';
  await store.update(async () => {
    while (!existsSync(${JSON.stringify(path)})) await new Promise((resolve) => setTimeout(resolve, 20));
    return 'older';
  }).catch(() => process.exit(7));`,
  );
  try {
    await until(
      () => readFile(`${path}.lock`, 'utf8').catch(() => ''),
      (name) => name !== '',
    );
    child.kill('SIGSTOP');
    await open(path).update(async () => 'newer');
  } finally {
    child.kill('SIGCONT');
  }
  expect((await ended)[0]).toBe(7);
  expect([await readFile(path, 'utf8'), await readdir(dirname(path))]).toEqual(['newer', ['session.json']]);
});

test('the draft of a killed process is removed', async ({ path }) => {
  const store = open(path);
  const killed = start(
    path,
    `import { syncBuiltinESMExports } from 'node:module';
  import promises from 'node:fs/promises';
  promises.rename = () => process.kill(process.pid, 'SIGKILL');
  syncBuiltinESMExports();
  await store.update(async () => 'one');`,
  );
  expect((await killed.ended)[1]).toBe('SIGKILL');
  expect((await readdir(dirname(path))).length).toBe(2);
  await store.update(async () => 'two');
  expect([await readFile(path, 'utf8'), await readdir(dirname(path))]).toEqual(['two', ['session.json']]);
});
