import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, onTestFinished } from 'vitest';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { aKey } from '../../test/proven-log.ts';
import { aWitnessedLog } from '../../test/witnessed-log.ts';
import { cosignatureIn, type WitnessKey } from '../tree/cosignature.ts';
import { parseNote, verifierKeyOf } from '../tree/note.ts';
import { openWitnessStore } from './store.ts';
import { makeKeyFile, readKeyFile } from './witness-keys.ts';
import { startWitnessServer } from './witness-server.ts';

const COSIGNERS = readKeyFile(makeKeyFile('witness.example/w1')) ?? [];
const [MLDSA, ED25519] = COSIGNERS.map(({ key }) => key) as [WitnessKey, WitnessKey];
const hashOf = (origin: string): string => createHash('sha256').update(origin).digest('hex');

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('data', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-witness-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return join(folder, 'witness.db');
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('log', ({}) => aWitnessedLog())
  .extend('start', ({ data, log }) => async ({ requestsPerSecond = 10_000 } = {}) => {
    const store = openWitnessStore(data);
    store.addKey(log.origin, log.vkey, hashOf(log.origin));
    const server = await startWitnessServer({
      ...{ store, cosigners: COSIGNERS, requestsPerSecond, clock: REAL_TIME },
      listener: { host: '127.0.0.1', port: 0 },
      onFailure: (error) => expect.fail(String(error)),
    });
    const stop = async () => {
      await server[Symbol.asyncDispose]();
      store[Symbol.dispose]();
    };
    const ask = async (body: string | Buffer) => {
      const response = await fetch(`${server.url}/add-checkpoint`, { method: 'POST', body });
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        text: await response.text(),
      };
    };
    return { url: server.url, store, ask, stop };
  })
  .extend('witness', async ({ start }) => {
    const started = await start();
    onTestFinished(started.stop);
    return started;
  });

test('a head is cosigned by both keys, and so is each that has grown from it', async ({ log, witness }) => {
  for (const [old, size] of [
    [0, 3],
    [3, 3],
    [3, 100],
    [100, 101],
  ] as const) {
    const { status, text } = await witness.ask(await log.request(old, size));
    expect(status, text).toBe(200);
    const note = parseNote(`${log.noteAt(size)}${text}`);
    if (note === undefined) throw new Error('the answer is no list of signatures');
    for (const key of [MLDSA, ED25519]) {
      const found = cosignatureIn(note, key);
      expect(found.is === 'right' && Math.abs(found.atS * 1_000 - Date.now())).toBeLessThan(60_000);
    }
  }
  const found = await fetch(`${witness.url}/${hashOf(log.origin)}/checkpoint`);
  expect(found.status).toBe(200);
  expect(cosignatureIn(parseNote(await found.text()) ?? { text: '', signatures: [] }, ED25519).is).toBe(
    'right',
  );
  expect((await fetch(`${witness.url}/${hashOf('another')}/checkpoint`)).status).toBe(404);
});

test('another old size is answered with the size that the witness knows', async ({ log, witness }) => {
  await witness.ask(await log.request(0, 10));
  for (const [old, size] of [
    [0, 20],
    [5, 20],
    [11, 20],
    [9, 9],
  ] as const)
    expect(await witness.ask(await log.request(old, size))).toEqual({
      status: 409,
      type: 'text/x.tlog.size',
      text: '10\n',
    });
});

test('a log that has forked is refused, whatever proof it brings', async ({ log, witness }) => {
  await witness.ask(await log.request(0, 10));
  const forked = aWitnessedLog(log.signer, 'two');
  for (const size of [10, 11, 20]) {
    const { status, text } = await witness.ask(await forked.request(10, size));
    expect(status).toBe(size === 10 ? 409 : 422);
    expect(text).toMatch(/^[A-Z][^\n]*\.\n$/);
  }
  expect((await witness.ask(await log.request(10, 20))).status).toBe(200);
});

test('of concurrent heads, one is cosigned, and the others learn the size', async ({ log, witness }) => {
  await witness.ask(await log.request(0, 10));
  const forked = aWitnessedLog(log.signer, 'two');
  const bodies = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? log : forked).request(10, 11 + at)),
  );
  const answers = await Promise.all(bodies.map(witness.ask));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.every(({ status }) => [200, 409, 422].includes(status))).toBe(true);
});

test('a restarted witness remembers what it has cosigned', async ({ log, start }) => {
  const first = await start();
  expect((await first.ask(await log.request(0, 10))).status).toBe(200);
  await first.stop();
  const second = await start();
  onTestFinished(second.stop);
  expect((await second.ask(await log.request(0, 10))).status).toBe(409);
  expect((await second.ask(await aWitnessedLog(log.signer, 'two').request(10, 12))).status).toBe(422);
  expect((await second.ask(await log.request(10, 12))).status).toBe(200);
});

test('the keys of a log are those of the operator', async ({ log, witness }) => {
  const [stranger, renewed] = [aWitnessedLog(aKey()), aWitnessedLog(aKey())];
  expect((await witness.ask(await stranger.request(0, 3))).status).toBe(403);
  const wrong = (await log.request(0, 3)).replace(/^3$/m, '4');
  expect((await witness.ask(wrong)).status).toBe(403);
  const other = (await log.request(0, 3)).replaceAll(log.origin, 'log.example');
  expect((await witness.ask(other)).status).toBe(404);
  witness.store.addKey(log.origin, renewed.vkey, hashOf(log.origin));
  expect((await witness.ask(await renewed.request(0, 3))).status).toBe(200);
  witness.store.removeKey(log.origin, verifierKeyOf(log.signer.key));
  expect((await witness.ask(await log.request(3, 4))).status).toBe(403);
});

const HASH = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=';

test.for([
  ['is empty', 400, () => ''],
  ['is no UTF-8', 400, () => Buffer.of(0xff, 0xfe)],
  ['has no old size', 400, (text: string) => text.replace(/^old 0/, 'old')],
  ['has an old size with a zero before it', 400, (text: string) => text.replace(/^old 0/, 'old 00')],
  ['has a negative old size', 400, (text: string) => text.replace(/^old 0/, 'old -1')],
  ['has an old size greater than its own', 400, (text: string) => text.replace(/^old 0/, 'old 9')],
  ['has a proof of 64 hashes', 400, (text: string) => text.replace('\n\n', `\n${`${HASH}\n`.repeat(64)}\n`)],
  ['has a proof that is no Base64', 400, (text: string) => text.replace('\n\n', '\nhash\n\n')],
  ['has no checkpoint', 400, (text: string) => text.slice(0, 7)],
  ['has no signature', 400, (text: string) => text.slice(0, text.indexOf('\n—'))],
  ['has a proof without an old size', 422, (text: string) => text.replace('\n\n', `\n${HASH}\n\n`)],
  ['is too large', 413, (text: string) => text + 'x'.repeat(200_000)],
] as const)('a request that %s is refused by a sentence', async ([, expected, change], { log, witness }) => {
  const { status, text } = await witness.ask(change(await log.request(0, 3)));
  expect(status).toBe(expected);
  expect(text).toMatch(/^[A-Z][^\n]*\.\n$/);
  expect(witness.store.find(log.origin)?.head.size).toBe(0);
});

test('other paths and methods are refused', async ({ log, witness }) => {
  expect((await fetch(`${witness.url}/add-checkpoint`)).status).toBe(405);
  expect((await fetch(`${witness.url}/`)).status).toBe(404);
  const path = `/${hashOf(log.origin)}/checkpoint`;
  expect((await fetch(`${witness.url}${path}`)).status).toBe(404);
  expect((await fetch(`${witness.url}${path}`, { method: 'DELETE' })).status).toBe(405);
});

test('an address that asks too often has to wait', async ({ log, start }) => {
  const started = await start({ requestsPerSecond: 1 });
  onTestFinished(started.stop);
  const body = await log.request(0, 3);
  const answers = [];
  for (let at = 0; at < 4; at += 1) answers.push((await started.ask(body)).status);
  expect(answers.slice(-1)).toEqual([429]);
});
