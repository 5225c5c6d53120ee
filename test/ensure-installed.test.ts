import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

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
  const install = `const fs = require('node:fs');
    const isWhole = !process.argv.includes('--omit=dev');
    fs.writeFileSync(${JSON.stringify(at('node_modules/.package-lock.json'))}, isWhole ? ${JSON.stringify(listing(WHOLE))} : ${JSON.stringify(listing(['needed']))});
    fs.appendFileSync(${JSON.stringify(at('installs'))}, process.argv[2] + (isWhole ? ' ' : ' --omit=dev '));`;
  await writeFile(at('npm.js'), install);
  return {
    /** Runs the script that npm runs first, and returns the installs so far. */
    before: async (script: string) => {
      const env = { PATH: process.env.PATH, npm_execpath: at('npm.js'), npm_lifecycle_event: `pre${script}` };
      await promisify(execFile)(process.execPath, [at('scripts/ensure-installed.mjs')], { env });
      return (await readFile(at('installs'), 'utf8').catch(() => '')).trim();
    },
    [Symbol.asyncDispose]: () => folder.remove(),
  };
};

test('installed packages are not installed again, and missing ones are installed once', async () => {
  await using whole = await openCheckout(WHOLE);
  for (const script of ['start', 'test']) expect(await whole.before(script)).toBe('');
  await using empty = await openCheckout([]);
  for (const script of ['test', 'start']) expect(await empty.before(script)).toBe('ci');
});

test('a start installs no development tools, which come with the first check', async () => {
  await using checkout = await openCheckout([]);
  for (const script of ['start', 'annals', 'token', 'start'])
    expect(await checkout.before(script)).toBe('ci --omit=dev');
  for (const script of ['test', 'check', 'start'])
    expect(await checkout.before(script)).toBe('ci --omit=dev ci');
});

test('an install without development tools is enough to run Annals, but not to check it', async () => {
  await using checkout = await openCheckout(['needed']);
  for (const script of ['start', 'annals', 'token', 'start']) expect(await checkout.before(script)).toBe('');
  for (const script of ['test', 'check', 'start']) expect(await checkout.before(script)).toBe('ci');
});

test('a start also installs a missing package that it needs, and removes no tools', async () => {
  await using checkout = await openCheckout(['tool', 'both']);
  expect(await checkout.before('start')).toBe('ci');
});
