import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test as base, expect } from 'vitest';
import { createServer } from '#edge/http/node-http.ts';
import { aWitnessedLog } from '../../test/witnessed-log.ts';
import { cosign, type WitnessKey } from '../tree/cosignature.ts';
import { parseNote } from '../tree/note.ts';
import { askWitness } from './ask-witness.ts';

type Lie = {
  readonly status?: number;
  readonly body?: string;
  readonly location?: string;
  readonly hangs?: true;
};

const pair = generateKeyPairSync('ed25519');
const KEY: WitnessKey = {
  name: 'witness.example/w1',
  algorithm: 'Ed25519',
  publicKey: Buffer.from(String(pair.publicKey.export({ format: 'jwk' }).x), 'base64url'),
};
const NOW_S = 1_800_000_000;
const log = aWitnessedLog();
const NOTE = log.noteAt(10);
const textOf = (note: string): string => parseNote(note)?.text ?? '';
const signed = (note: string, key = KEY, atS = NOW_S): string =>
  cosign(textOf(note), { key, privateKey: pair.privateKey, atS }) ?? '';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('ask', async ({}, { onCleanup }) => {
    let lie: Lie = {};
    const paths: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url);
      request.resume();
      if (lie.hangs) return;
      const { status = 200, body = '', location } = lie;
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onCleanup(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`;
    return async (told: Lie, signal = new AbortController().signal, old = 0) => {
      lie = told;
      const asked = { url, keys: [KEY], old, proof: [], note: NOTE, nowMs: NOW_S * 1_000, timeoutMs: 500 };
      return { answer: await askWitness({ ...asked, signal }), paths };
    };
  });

test('a cosignature of the witness is taken, and lines of others are left out', async ({ ask }) => {
  const other = { ...KEY, name: 'other.example' };
  const { answer, paths } = await ask({ body: `${signed(NOTE, other)}${signed(NOTE)}` });
  expect(answer).toEqual({ is: 'cosigned', cosignatures: signed(NOTE), by: [KEY] });
  expect(paths).toEqual(['/a/add-checkpoint']);
});

test('of repeated lines of a key, the first in time is kept', async ({ ask }) => {
  const later = signed(NOTE, KEY, NOW_S + 1);
  const { answer } = await ask({ body: `${later.repeat(98)}${signed(NOTE)}` });
  expect(answer).toEqual({ is: 'cosigned', cosignatures: signed(NOTE), by: [KEY] });
});

test.for<readonly [string, Lie, string]>([
  ['signs another head', { body: signed(log.noteAt(9)) }, 'Its signature is not over the head'],
  [
    'signs the head of another log',
    { body: signed(NOTE.replaceAll(log.origin, 'log.example')) },
    'not over the head',
  ],
  [
    'signs by another key',
    { body: signed(NOTE, { ...KEY, name: 'other.example' }) },
    'no cosignature by the key',
  ],
  ['signs for a time long ago', { body: signed(NOTE, KEY, NOW_S - 3_600) }, 'Its clock differs'],
  ['signs for the future', { body: signed(NOTE, KEY, NOW_S + 3_600) }, 'Its clock differs'],
  ['answers with something else', { body: '<html>' }, 'Its answer is no list of signatures.'],
  ['answers with nothing', { body: '' }, 'no cosignature by the key'],
  ['answers without an end', { body: 'x'.repeat(100_000) }, 'more than 65536 bytes'],
  ['sends elsewhere', { status: 307, location: 'http://127.0.0.1:1/' }, 'It answered 307.'],
  ['fails', { status: 500 }, 'It answered 500.'],
  ['does not know the log', { status: 404 }, 'It does not know this log'],
  ['does not know the key', { status: 403 }, 'It does not know the key of this log'],
  ['knows another size, and does not say which', { status: 409, body: 'nine\n' }, 'without the size'],
])('a witness that %s has failed', async ([, lie, reason], { ask }) => {
  const { answer } = await ask(lie);
  expect(answer).toEqual({ is: 'failed', reason: expect.stringContaining(reason) });
});

test('a witness may have seen another size, or a contradiction', async ({ ask }) => {
  expect((await ask({ status: 409, body: '7\n' })).answer).toEqual({ is: 'elsewhere', size: 7 });
  expect((await ask({ status: 422 })).answer.is).toBe('contradicted');
});

test('409 to a head of the size that it has cosigned is a contradiction', async ({ ask }) => {
  const { signal } = new AbortController();
  for (const body of ['', 'Another root.\n', '10\n'])
    expect((await ask({ status: 409, body }, signal, 10)).answer.is).toBe('contradicted');
  expect((await ask({ status: 409, body: '12\n' }, signal, 10)).answer).toEqual({
    is: 'elsewhere',
    size: 12,
  });
  expect((await ask({ status: 409, body: '7\n' }, signal, 7)).answer).toEqual({ is: 'elsewhere', size: 7 });
});

test('a witness that does not answer holds neither a stop nor the others for long', async ({ ask }) => {
  const stopping = new AbortController();
  const asking = ask({ hangs: true }, stopping.signal);
  stopping.abort();
  expect((await asking).answer.is).toBe('failed');
  expect((await ask({ hangs: true })).answer).toEqual({
    is: 'failed',
    reason: 'It did not answer within 0.5 seconds.',
  });
});

test('a witness that is not there has failed', async () => {
  const asked = { url: 'http://127.0.0.1:1', keys: [KEY], old: 0, proof: [], note: NOTE, nowMs: 0 };
  expect(await askWitness({ ...asked, signal: new AbortController().signal })).toEqual({
    is: 'failed',
    reason: 'It cannot be reached: ECONNREFUSED.',
  });
});
