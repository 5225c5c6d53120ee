import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, win32 } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isOfAggregate, pathInProject, slashed } from '../create/files.ts';
import { nameFrom, whyNoProject } from '../create/names.ts';
import { runAnnals, spawnAnnals } from './annals-process.ts';
import { temporaryDataDir } from './engines/data-dir.ts';

/** Runs `create-annals` from its sources; `test/package.engine.test.ts` tests the built one. */
const MAIN = join(import.meta.dirname, '../create/create-annals.ts');

test.each([
  [win32.join('domain', 'note.ts'), true, 'domain/invoice.ts'],
  [win32.join('domain', 'note.test.ts'), true, 'domain/invoice.test.ts'],
  [win32.join('domain', 'base.ts'), false, 'domain/base.ts'],
  ['gitignore', false, '.gitignore'],
])('on Windows, %s of the template is found and renamed', (path, isFound, renamed) => {
  expect(isOfAggregate(slashed(path))).toBe(isFound);
  expect(pathInProject(slashed(path), 'invoice')).toBe(renamed);
});

test('an older Node gets one sentence', async () => {
  const asOlder = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); await import(${JSON.stringify(MAIN)});`;
  await using older = spawnAnnals(['--input-type=module', '--eval', asOlder]);
  expect(await older.exited).toBe(1);
  expect(older.output()).toBe('Annals needs Node 22.18 or newer, but this is 20.20.2.\n');
});

test.each([
  ['note', 'invoice'],
  ['invoice', 'payment'],
])('beside %s it suggests another aggregate', async (aggregate, other) => {
  await using place = await temporaryDataDir();
  await using creating = spawnAnnals(
    [MAIN, 'fresh', '--aggregate', aggregate, '--no-install'],
    {},
    {
      folder: place.path,
    },
  );
  expect(await creating.exited).toBe(0);
  const added = `npm run annals -- new aggregate ${other}`;
  expect(creating.output()).toContain(`To add another: ${added}\n`);
  expect(await readFile(join(place.path, 'fresh/README.md'), 'utf8')).toContain(`${added} `);
});

/** As `npx annals` calls it. */
const BIN = join(import.meta.dirname, '../package/bin.ts');

test('npx annals begins a project in an empty folder, after an answer, and overwrites nothing', async () => {
  await using place = await temporaryDataDir();
  const folder = join(place.path, 'My Meetups');
  await mkdir(folder);
  const npxAnnals = (...args: readonly string[]) => runAnnals([BIN, ...args], {}, { folder });

  expect(await npxAnnals('audit', 'verify')).toEqual({
    exit: 1,
    output:
      'There is no domain/domain.ts here: begin a project with npx annals in an empty folder, or set DOMAIN_FILE to the file of a domain.\n',
  });
  expect(await npxAnnals()).toEqual({
    exit: 1,
    output: expect.stringMatching(
      /My Meetups is empty, and no terminal can ask: --yes creates a project there\.\n$/,
    ),
  });
  expect(await npxAnnals('--help')).toEqual({ exit: 0, output: expect.stringContaining('--no-start') });
  expect(await npxAnnals('--yes', 'there')).toEqual({
    exit: 1,
    output: 'Unexpected argument: there (--help lists the options).\n',
  });
  expect(await readdir(folder)).toEqual([]);

  const begun = await npxAnnals('--yes', '--no-install', '--aggregate', 'meetup');
  expect(begun).toEqual({
    exit: 0,
    output: expect.stringMatching(
      /^\nmy-meetups is in \S.*My Meetups\. Next:\n\n {2}npm install\n {2}npm run dev /,
    ),
  });
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: 'my-meetups', scripts: { dev: expect.any(String) } });

  const other = join(place.path, 'other');
  await mkdir(other);
  await writeFile(join(other, 'letter.txt'), 'Dear Ann');
  const refused = await runAnnals([BIN, '--yes', '--no-install'], {}, { folder: other });
  expect(refused).toEqual({
    exit: 1,
    output: expect.stringMatching(/other is not empty: run npx annals in an empty folder\.\n$/),
  });
  expect(await readdir(other)).toEqual(['letter.txt']);
});

test('npx annals serves witnesses and auditors, who have no project', async () => {
  await using place = await temporaryDataDir();
  const npxAnnals = (...args: readonly string[]) => runAnnals([BIN, ...args], {}, { folder: place.path });
  const made = await npxAnnals('witness', 'init', '--name', 'witness.example/w1');
  expect(made).toEqual({ exit: 0, output: expect.stringContaining('witness.example/w1') });
  expect(await readdir(place.path)).toContain('witness-keys.json');
  const checked = await npxAnnals('audit', 'check', 'nowhere.tlog-proof');
  expect(checked).toEqual({
    exit: 64,
    output: expect.stringContaining('a proof is worth what its key is worth'),
  });
});

test.each([
  ['My Meetups', 'my-meetups'],
  ['2026.', '2026'],
  ['_…_', 'my-app'],
  ['x'.repeat(200), 'x'.repeat(100)],
])('a project in the folder %s is called %s', (folder, name) => {
  expect(nameFrom(folder)).toBe(name);
  expect(whyNoProject(name)).toBeUndefined();
});

/** A registry behind a network that drops packets: it accepts connections and never answers. */
const startSilence = async () => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {}))).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    asked: once(server, 'connection'),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

describe('behind a network that drops packets', () => {
  const begin = (place: string, registry: string, settings: Readonly<Record<string, string>> = {}) =>
    spawnAnnals(
      [MAIN, 'fresh'],
      { npm_config_registry: registry, npm_config_cache: join(place, 'cache'), HOME: place, ...settings },
      { folder: place, detached: true },
    );

  test('one sentence reports it soon', async () => {
    await using place = await temporaryDataDir();
    await using silence = await startSilence();
    await using creating = begin(place.path, silence.url, { npm_config_fetch_timeout: '500' });
    expect(await creating.exited).toBe(1);
    expect(creating.output()).toMatch(
      /^Installing …\nnpm cannot reach its registry \(\w+\), and its cache lacks .* when you are online\.\n$/,
    );
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s leaves nothing behind', async (signal) => {
    await using place = await temporaryDataDir();
    await using silence = await startSilence();
    await using creating = begin(place.path, silence.url);
    await silence.asked;
    // A terminal sends it to npm as well.
    if (signal === 'SIGINT') process.kill(-(creating.child.pid ?? 0), signal);
    else creating.child.kill(signal);
    expect({ exit: await creating.exited, output: creating.output() }).toEqual({
      exit: 130,
      output: 'Installing …\n\n',
    });
    expect(await readdir(place.path)).not.toContain('fresh');
  });

  test('Ctrl+C keeps a folder that existed before', async () => {
    await using place = await temporaryDataDir();
    await using silence = await startSilence();
    await mkdir(join(place.path, 'fresh'));
    await using creating = begin(place.path, silence.url);
    await silence.asked;
    process.kill(-(creating.child.pid ?? 0), 'SIGINT');
    expect(await creating.exited).toBe(130);
    expect(creating.output()).toMatch(
      /fresh existed before, so the written files were kept: empty it before you start again\.\n/,
    );
    expect(await readdir(join(place.path, 'fresh'))).toContain('package.json');
  });
});
