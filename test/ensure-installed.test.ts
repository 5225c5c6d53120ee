import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '../testing/until.ts';

const SCRIPT = join(import.meta.dirname, '../scripts/ensure-installed.mjs');

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
  await copyFile(SCRIPT, at('scripts/ensure-installed.mjs'));
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
    before: async (script: string) => {
      const env = { PATH: process.env.PATH, npm_execpath: at('npm.js'), npm_lifecycle_event: `pre${script}` };
      const running = promisify(execFile)(process.execPath, [at('scripts/ensure-installed.mjs')], { env });
      running.child.stderr?.on('data', (text: string) => {
        printed += text;
      });
      await running;
      return (await readFile(at('installs'), 'utf8').catch(() => '')).trim();
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
  await writeFile(checkout.at('node_modules/.annals-installing'), String(other.pid));
  const waiting = checkout.before('test');
  expect(await Promise.race([waiting, until(() => checkout.isWaiting(), Boolean)])).toBe(true);
  other.kill();
  expect(await waiting).toBe('install');
});

test('packages that a running process may load are not replaced', async () => {
  await using checkout = await openCheckout(['needed']);
  const listing = checkout.at('node_modules/.package-lock.json');
  await writeFile(listing, (await readFile(listing, 'utf8')).replace('1.0.0', '0.9.0'));
  using running = sleeper();
  await mkdir(checkout.at('node_modules/.annals-running'));
  await writeFile(checkout.at('node_modules/.annals-running', String(running.pid)), '');
  await expect(checkout.before('demo')).rejects.toThrow(
    `Annals runs from this folder (process ${running.pid}): stop it, and run the command again.`,
  );
  running.kill();
  expect(await checkout.before('demo')).toBe('install --omit=dev');
});

/** A process that does nothing, until it is killed. */
const sleeper = () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const kill = () => child.kill('SIGKILL');
  return { pid: child.pid, kill, [Symbol.dispose]: kill };
};
