// Over 200 lines, because it is one script, whose locks and installs are tried on the same checkout.
import { execFile, spawn } from 'node:child_process';
import {
  copyFile,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '../testing/until.ts';

const SCRIPTS = join(import.meta.dirname, '../scripts');
const { processName } = (await import(pathToFileURL(join(SCRIPTS, 'process-id.mjs')).href)) as {
  processName(pid: number): string;
};

const LOCKED = {
  '': { name: 'annals' },
  'node_modules/needed': { version: '1.0.0' },
  'node_modules/tool': { version: '1.0.0', dev: true },
  'node_modules/both': { version: '1.0.0', devOptional: true },
  'node_modules/elsewhere': { version: '1.0.0', optional: true },
};
const WHOLE = ['needed', 'tool', 'both'];

/** A checkout with some packages installed, and an npm that installs packages and reports its arguments. */
const openCheckout = async (installed: readonly string[]) => {
  const folder = await mkdtempDisposable(join(tmpdir(), 'annals-checkout-'));
  const at = (...path: readonly string[]) => join(folder.path, ...path);
  const listing = (names: readonly string[]) =>
    JSON.stringify({
      packages: Object.fromEntries(
        names.map((name) => [
          `node_modules/${name}`,
          { version: '1.0.0', dev: name === 'tool' || undefined },
        ]),
      ),
    });
  await mkdir(at('scripts'));
  await mkdir(at('node_modules'));
  for (const script of ['ensure-installed.mjs', 'note-running.mjs', 'process-id.mjs'])
    await copyFile(join(SCRIPTS, script), at('scripts', script));
  await writeFile(at('package-lock.json'), JSON.stringify({ packages: LOCKED }));
  await writeFile(at('node_modules/.package-lock.json'), listing(installed));
  let printed = '';
  const install = `const fs = require('node:fs');
    const isWhole = !process.argv.includes('--omit=dev');
    fs.writeFileSync(${JSON.stringify(at('node_modules/.package-lock.json'))}, isWhole ? ${JSON.stringify(listing(WHOLE))} : ${JSON.stringify(listing(['needed']))});
    fs.appendFileSync(${JSON.stringify(at('installs'))}, process.argv[2] + (isWhole ? ' ' : ' --omit=dev '));`;
  await writeFile(at('npm.js'), install);
  return {
    at,
    /** Runs the script that npm runs first, and returns the installs so far. */
    before: async (script: string, ...args: readonly string[]) => {
      const env = { PATH: process.env.PATH, npm_execpath: at('npm.js'), npm_lifecycle_event: `pre${script}` };
      const running = promisify(execFile)(process.execPath, [at('scripts/ensure-installed.mjs'), ...args], {
        env,
      });
      running.child.stderr?.on('data', (text: string) => {
        printed += text;
      });
      await running;
      return (await readFile(at('installs'), 'utf8').catch(() => '')).trim();
    },
    /** A process that installs, or that did. */
    lockFor: async (name: string) => {
      await mkdir(at('node_modules/.annals-install-lock'), { recursive: true });
      await writeFile(at('node_modules/.annals-install-lock', name), '');
    },
    noteFor: async (name: string) => {
      await mkdir(at('node_modules/.annals-running'), { recursive: true });
      await writeFile(at('node_modules/.annals-running', name), '');
    },
    /** A version that needs another one of the installed packages. */
    outdate: async () => {
      const file = at('node_modules/.package-lock.json');
      await writeFile(file, (await readFile(file, 'utf8')).replace('1.0.0', '0.9.0'));
    },
    isWaiting: () => printed.includes('waiting for it'),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
};

test('installed packages are not installed again, and missing ones are installed once', async () => {
  await using whole = await openCheckout(WHOLE);
  for (const script of ['start', 'test']) expect(await whole.before(script)).toBe('');
  await using empty = await openCheckout([]);
  for (const script of ['test', 'start']) expect(await empty.before(script)).toBe('install');
});

test('a start installs no development tools, which come with the first check', async () => {
  await using checkout = await openCheckout([]);
  for (const script of ['start', 'annals', 'demo', 'token'])
    expect(await checkout.before(script)).toBe('install --omit=dev');
  for (const script of ['test', 'check', 'start'])
    expect(await checkout.before(script)).toBe('install --omit=dev install');
});

test('an install without development tools is enough to run Annals, but not to check it', async () => {
  await using checkout = await openCheckout(['needed']);
  for (const script of ['start', 'annals', 'demo', 'token']) expect(await checkout.before(script)).toBe('');
  for (const script of ['test', 'check', 'start']) expect(await checkout.before(script)).toBe('install');
});

test('a start also installs a missing package that it needs, and removes no tools', async () => {
  await using checkout = await openCheckout(['tool', 'both']);
  expect(await checkout.before('start')).toBe('install');
});

test('commands that start at the same time install once', async () => {
  await using checkout = await openCheckout([]);
  const all = await Promise.all(['test', 'check', 'test'].map((script) => checkout.before(script)));
  expect(all.toSorted().at(-1)).toBe('install');
});

test('a command waits for the one that installs, but not for one that was killed', async () => {
  await using checkout = await openCheckout([]);
  using other = sleeper();
  await checkout.lockFor(processName(other.pid));
  const waiting = checkout.before('test');
  expect(await Promise.race([waiting, until(() => checkout.isWaiting(), Boolean)])).toBe(true);
  other.kill();
  expect(await waiting).toBe('install');
});

test.for([
  ['of an earlier process with the same number', `${process.pid}.1-former`],
  ['that names no process', 'nothing'],
])('the lock %s holds nobody up', async ([, name = '']) => {
  await using checkout = await openCheckout([]);
  await checkout.lockFor(name);
  expect(await checkout.before('test')).toBe('install');
});

test('an empty lock is free, and several processes that find an abandoned one install once', async () => {
  await using checkout = await openCheckout([]);
  await mkdir(checkout.at('node_modules/.annals-install-lock'));
  expect(await checkout.before('start')).toBe('install --omit=dev');
  await checkout.lockFor(`${process.pid}.1-former`);
  await Promise.all(['test', 'check', 'test', 'check'].map((script) => checkout.before(script)));
  expect(await checkout.before('test')).toBe('install --omit=dev install');
  expect(await readdir(checkout.at('node_modules'))).not.toContain('.annals-install-lock');
});

test('a command that has waited too long names the file, and leaves the lock to its owner', async () => {
  await using checkout = await openCheckout([]);
  using other = sleeper();
  await checkout.lockFor(processName(other.pid));
  const lock = checkout.at('node_modules/.annals-install-lock');
  await expect(checkout.before('test', '1')).rejects.toThrow(
    `Process ${other.pid} has been installing the dependencies for too long: end it, or delete ${lock}, and run the command again.`,
  );
  expect(await readdir(lock)).toEqual([processName(other.pid)]);
});

test('packages that a running process may load are not replaced', async () => {
  await using checkout = await openCheckout(['needed']);
  await checkout.outdate();
  using running = sleeper();
  await checkout.noteFor(processName(running.pid));
  await expect(checkout.before('demo')).rejects.toThrow(
    `Annals runs from this folder (process ${running.pid}): stop it, and run the command again.`,
  );
  running.kill();
  expect(await checkout.before('demo')).toBe('install --omit=dev');
});

test('the note of an ended process hinders nothing, though another has its number', async () => {
  await using checkout = await openCheckout(['needed']);
  await checkout.outdate();
  await checkout.noteFor(`${process.pid}.1-former`);
  expect(await checkout.before('demo')).toBe('install --omit=dev');
});

test('without a listing of the packages, none of a running process is replaced', async () => {
  await using checkout = await openCheckout(['needed']);
  await rm(checkout.at('node_modules/.package-lock.json'));
  using running = sleeper();
  await checkout.noteFor(processName(running.pid));
  await expect(checkout.before('demo')).rejects.toThrow('Annals runs from this folder');
});

test('a lock file that does not fit package.json is named, and not taken for installed', async () => {
  await using checkout = await openCheckout(['needed']);
  const lock = { packages: { ...LOCKED, 'node_modules/more': { version: '1.0.0' } } };
  await writeFile(checkout.at('package-lock.json'), JSON.stringify(lock));
  for (const script of ['start', 'start'])
    await expect(checkout.before(script)).rejects.toThrow('it does not fit package.json');
});

test('a process notes itself until it ends, removes the notes of killed ones, and bears a read-only folder', async () => {
  await using checkout = await openCheckout([]);
  await checkout.noteFor(`${process.pid}.1-former`);
  using running = sleeper('--import', checkout.at('scripts/note-running.mjs'));
  const notes = () => readdir(checkout.at('node_modules/.annals-running'));
  expect(await until(notes, (names) => names[0] === processName(running.pid))).toHaveLength(1);
  running.stop();
  await until(notes, (names) => names.length === 0);
  await rm(checkout.at('node_modules'), { recursive: true });
  // Like a folder that cannot be written, also for root.
  await symlink('/proc/1', checkout.at('node_modules'));
  await promisify(execFile)(process.execPath, [
    ...['--import', checkout.at('scripts/note-running.mjs')],
    ...['-e', ''],
  ]);
});

/** A process that does nothing, until it is stopped or killed. */
const sleeper = (...options: readonly string[]) => {
  const waits = "process.stdin.resume().on('end', () => process.exit())";
  const child = spawn(process.execPath, [...options, '-e', waits]);
  const kill = () => child.kill('SIGKILL');
  return { pid: Number(child.pid), stop: () => child.stdin.end(), kill, [Symbol.dispose]: kill };
};
