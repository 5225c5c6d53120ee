import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test as base, expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { cosignatureIn, parseWitnessKey } from '../../proof/tree/cosignature.ts';
import { parseNote } from '../../proof/tree/note.ts';
import { callAt } from '../../test/engines/call-line.ts';
import { aKey } from '../../test/proven-log.ts';
import { aWitnessedLog } from '../../test/witnessed-log.ts';

const NAME = 'witness.example/w1';
const DYING = join(import.meta.dirname, '../../test/engines/dying-witness.ts');

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-witness-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  .extend('files', ({ folder }) => ({
    data: join(folder, 'witness.db'),
    keys: join(folder, 'witness-keys.json'),
  }))
  .extend('call', ({ files }) => (words: string, ...args: readonly string[]) => {
    const [data, key] = [`--data=${files.data}`, `--key=${files.keys}`];
    const given = /init|keys/.test(words) ? [key] : /add|remove|logs/.test(words) ? [data] : [data, key];
    const command = [...words.split(' '), ...args, ...given];
    return callAt({ domain: publishing, environment: { DATA_DIR: '/nowhere' } }, command);
  })
  .extend('vkeys', async ({ call }) => (await call('witness init', '--name', NAME)).lines)
  .extend('serve', async ({ files, vkeys }, { onCleanup }) => {
    const ending = new AbortController();
    const running: Promise<unknown>[] = [];
    onCleanup(async () => {
      ending.abort();
      await Promise.all(running);
    });
    expect(vkeys).toHaveLength(2);
    return async (): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const args = ['--listen', '127.0.0.1:0', '--data', files.data, '--key', files.keys];
      const ended = callAt({ domain: publishing, environment: {}, signal: ending.signal, hear: resolve }, [
        'witness',
        ...args,
      ]);
      running.push(ended);
      const line = await Promise.race([promise, ended.then(({ complaint }) => expect.fail(complaint))]);
      return line.split(' ').at(-1) ?? '';
    };
  });

const ask = async (url: string, body: string) => {
  const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
  return { status: response.status, text: await response.text() };
};

test('a witness is made, gets a log, and cosigns its heads', async ({ call, serve, vkeys }) => {
  const log = aWitnessedLog();
  const url = await serve();
  expect((await ask(url, await log.request(0, 3))).status).toBe(404);
  expect((await call('witness add', log.vkey)).exit).toBe(0);
  const { status, text } = await ask(url, await log.request(0, 3));
  expect(status).toBe(200);
  const note = parseNote(`${log.noteAt(3)}${text}`);
  for (const vkey of vkeys) {
    const key = parseWitnessKey(vkey);
    expect(key?.name).toBe(NAME);
    expect(note && key && cosignatureIn(note, key).is).toBe('right');
  }
  expect((await call('witness logs')).lines).toEqual([`${log.origin}  3  1 key`]);
  expect((await call('witness remove', log.vkey)).exit).toBe(0);
  expect((await ask(url, await log.request(3, 4))).status).toBe(404);
  expect((await call('witness remove', log.vkey)).exit).toBe(64);
});

test('the keys are for their owner alone, and are never replaced', async ({ call, files, vkeys }) => {
  expect((await stat(files.keys)).mode & 0o777).toBe(0o600);
  expect((await call('witness keys')).lines).toEqual(vkeys);
  const before = await readFile(files.keys, 'utf8');
  const { exit, complaint } = await call('witness init', '--name', NAME);
  expect([exit, complaint]).toEqual([64, expect.stringContaining('exists; a witness keeps its keys')]);
  expect(await readFile(files.keys, 'utf8')).toBe(before);
});

test('a witness that was killed after it stored a head, and before it answered, answers later', async ({
  call,
  files,
  serve,
  vkeys,
}) => {
  expect(vkeys).toHaveLength(2);
  const log = aWitnessedLog();
  await call('witness add', log.vkey);
  const dying = spawn(process.execPath, [DYING, files.data, files.keys], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = (await once(createInterface(dying.stdout), 'line')) as [string];
  const exited = once(dying, 'exit');
  await expect(ask(url, await log.request(0, 10))).rejects.toThrow();
  expect((await exited)[1]).toBe('SIGKILL');

  const again = await serve();
  expect(await ask(again, await log.request(0, 10))).toEqual({ status: 409, text: '10\n' });
  const forked = aWitnessedLog(log.signer, 'two');
  expect((await ask(again, await forked.request(10, 10))).status).toBe(409);
  expect((await ask(again, await log.request(10, 10))).status).toBe(200);
});

test.for([
  ['witness init', ['--name', 'two words'], '--name must be a name without spaces'],
  ['witness add', ['x'], 'the key must be one of a log'],
  ['witness', ['--listen', 'nowhere'], '--listen must be an address and a port such as'],
  ['witness', ['--requests-per-second', '0'], '--requests-per-second must be a whole number'],
] as const)('%s %j is refused', async ([words, args, reason], { call, vkeys }) => {
  expect(vkeys).toHaveLength(2);
  const { exit, complaint } = await call(words, ...args);
  expect([exit, complaint]).toEqual([64, expect.stringContaining(reason)]);
});

test('a file of something else is refused', async ({ call, files }) => {
  expect((await call('witness keys')).complaint).toContain('does not exist. `witness init` makes it');
  await writeFile(files.keys, '{}');
  expect((await call('witness keys')).complaint).toContain('has no keys of a witness');
  await writeFile(files.data, 'x'.repeat(5_000));
  const { exit, complaint } = await call('witness add', aWitnessedLog(aKey()).vkey);
  expect([exit, complaint]).toEqual([64, expect.stringContaining('is no file of a witness')]);
});
