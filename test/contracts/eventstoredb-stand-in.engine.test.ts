// Takes minutes, so it starts first.
// Over 200 lines, because it is one comparison: the stand-in with the answers of real servers.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  ANY,
  type AppendToStreamOptions,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  jsonEvent,
} from '@eventstore/db-client';
import { describe, expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startEventStoreProcess } from '../engines/eventstoredb/process.ts';
import { SERVER_VERSIONS } from '../engines/eventstoredb/product.ts';
import type { EventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { test as base, openClient } from '../engines/eventstoredb-fixture.ts';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/**
 * Copies, so that every clone has them; the originals are recorded in ../shared/eventstoredb, whose README
 * explains that.
 */
const RECORDED = join(PROJECT, 'test/engines/eventstoredb/recorded');
const SCENARIOS = join(RECORDED, 'scenarios.mjs');
const ANSWERS = { '23.10.6': 'answers.json', '26.0.3': 'answers-26.0.3.json' };
const FILTERED = join(RECORDED, 'filtered.mjs');
const SHORT_MS = 200;

const test = base
  .extend('standInOptions', { scope: 'file' }, { liveLagMax: 32 })
  .extend('client', { scope: 'file' }, openClient)
  .extend(
    'append',
    { scope: 'file' },
    ({ client }) =>
      (stream: string, options: AppendToStreamOptions = {}) =>
        client.appendToStream(stream, noted(), { expectedRevision: ANY, ...options }),
  )
  .extend(
    'countIn',
    { scope: 'file' },
    ({ client }) =>
      async (stream: string): Promise<number> =>
        countIn(client, stream),
  );
test.afterEach(({ standIn }) => {
  expect(standIn.faults.pending()).toBe(0);
  standIn.faults.clear();
});

const newStream = () => `stand-in-${randomUUID()}`;
const noted = (n = 1) => jsonEvent({ type: 'Noted', data: { n } });
/** Reads to the end and returns the number of items and the outcome. */
const follow = async (items: AsyncIterable<unknown>): Promise<{ count: number; error?: unknown }> => {
  let count = 0;
  try {
    for await (const _ of items) count += 1;
    return { count };
  } catch (error) {
    return { count, error };
  }
};
const countIn = async (client: EventStoreDBClient, stream: string): Promise<number> =>
  (await follow(client.readStream(stream))).count;
/** Until a request has met the fault. */
const untilMet = ({ faults }: EventStoreStandIn): Promise<number> =>
  until(
    () => faults.pending(),
    (left) => left === 0,
  );
const settledWithin = (promise: Promise<unknown>, deadlineMs: number): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => setTimeout(resolve, deadlineMs, false)),
  ]);

describe('the recorded answers of a real EventStoreDB', () => {
  test.for(SERVER_VERSIONS)('equal those of the stand-in as %s', async (version) => {
    await using fresh = await startEventStoreProcess({ version });
    const { stdout } = await run(
      process.execPath,
      [SCENARIOS, '--address', fresh.address, '--compare', join(RECORDED, ANSWERS[version])],
      { cwd: PROJECT },
    );
    expect(stdout).toContain('107 passed, 0 failed');
  });

  test('to reads with a filter equal those of the stand-in', async () => {
    await using fresh = await startEventStoreProcess();
    await using folder = await temporaryDataDir();
    const out = join(folder.path, 'facts.json');
    const address = `127.0.0.1:${fresh.port}`;
    await run(process.execPath, [FILTERED, '--address', address, '--out', out], { cwd: PROJECT });
    const facts = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'));
    expect(await facts(out)).toEqual(await facts(join(RECORDED, 'filtered.json')));
  });
});

describe('a scavenge', () => {
  const all = async (client: EventStoreDBClient, streams: readonly string[]) =>
    (await Array.fromAsync(client.readAll()))
      .flatMap(({ event }) => (event && streams.includes(event.streamId) ? [event] : []))
      .map(({ streamId, revision, type, position }) => ({ streamId, revision, type, position }));

  test('removes what retention and tombstones have hidden, and its positions', async ({
    append,
    client,
    standIn,
  }) => {
    const [kept, short, gone] = [newStream(), newStream(), newStream()];
    for (const stream of [kept, short, gone]) for (let n = 0; n < 3; n += 1) await append(stream);
    await client.setStreamMetadata(short, { maxCount: 1 });
    await client.tombstoneStream(gone);
    const before = await all(client, [kept, short, gone]);
    expect(before).toHaveLength(10);
    standIn.scavenge();
    const after = await all(client, [kept, short, gone]);
    expect(after).toEqual(
      before.filter(
        ({ streamId, revision, type }) =>
          streamId === kept || (streamId === short && revision === 2n) || type === '$streamDeleted',
      ),
    );
    const lost = before.find(({ streamId }) => streamId === gone)?.position;
    const from = (position: typeof lost) => ({ fromPosition: position ?? ('start' as const), maxCount: 1 });
    expect(await follow(client.readAll(from(lost)))).toMatchObject({ count: 0, error: { code: 2 } });
    expect(await follow(client.readAll(from(after[0]?.position)))).toEqual({ count: 1 });
    expect(await countIn(client, short)).toBe(1);
  });

  test('removes events beyond their maximum age, except the last', async ({ append, client, standIn }) => {
    const stream = newStream();
    for (let n = 0; n < 3; n += 1) await append(stream);
    await client.setStreamMetadata(stream, { maxAge: 0 });
    await until(
      () => countIn(client, stream),
      (left) => left === 0,
    );
    expect(await all(client, [stream])).toHaveLength(3);
    standIn.scavenge();
    expect(await all(client, [stream])).toHaveLength(1);
  });
});

describe('an append', () => {
  test.for([true, false])(
    'can stay unanswered (stored: %s)',
    async (stored, { append, countIn, standIn }) => {
      const stream = newStream();
      standIn.faults.appends({ kind: 'unanswered', stored }, { stream });
      const answered = append(stream);
      await untilMet(standIn);
      expect(await settledWithin(answered, SHORT_MS)).toBe(false);
      expect(await countIn(stream)).toBe(stored ? 1 : 0);
    },
  );

  test('faults hit only the requested streams, as often as requested', async ({ append, standIn }) => {
    const [struck, spared] = [newStream(), newStream()];
    standIn.faults.appends({ kind: 'access-denied' }, { stream: struck, times: 2 });
    await append(spared);
    for (const _ of [1, 2]) await expect(append(struck)).rejects.toMatchObject({ type: 'access-denied' });
    await expect(append(struck)).resolves.toMatchObject({ success: true, nextExpectedRevision: 0n });
  });

  test('can be answered without a position', async ({ append, standIn }) => {
    const stream = newStream();
    standIn.faults.appends({ kind: 'without-position' }, { stream });
    expect(await append(stream)).toEqual({ success: true, nextExpectedRevision: 0n, position: undefined });
  });

  test.for([true, false])(
    'can exceed its deadline (stored: %s)',
    async (stored, { append, countIn, standIn }) => {
      const stream = newStream();
      standIn.faults.appends({ kind: 'timeout', stored }, { stream });
      await expect(append(stream)).rejects.toMatchObject({ type: 'deadline-exceeded' });
      expect(await countIn(stream)).toBe(stored ? 1 : 0);
    },
  );

  test('can be answered late', async ({ append, standIn }) => {
    const stream = newStream();
    standIn.faults.appends({ kind: 'delayed', delayMs: SHORT_MS }, { stream });
    const answered = append(stream);
    expect(await settledWithin(answered, SHORT_MS / 2)).toBe(false);
    expect(await answered).toMatchObject({ success: true });
  });

  test('can break the stream that all appends in flight share', async ({ append, countIn, standIn }) => {
    const [waiting, breaking] = [newStream(), newStream()];
    standIn.faults.appends({ kind: 'unanswered', stored: true }, { stream: waiting });
    standIn.faults.appends({ kind: 'stream-error', stored: false }, { stream: breaking });
    const both = await Promise.allSettled([append(waiting), append(breaking)]);
    expect(both.map((one) => (one.status === 'rejected' ? one.reason.type : one.status))).toEqual([
      'unavailable',
      'unavailable',
    ]);
    expect([await countIn(waiting), await countIn(breaking)]).toEqual([1, 0]);
  });

  test('with credentials, one call per append, has the same faults', async ({ append, countIn, standIn }) => {
    const stream = newStream();
    const settings = { credentials: { username: 'admin', password: 'changeit' } };
    standIn.faults.appends({ kind: 'access-denied' }, { stream });
    await expect(append(stream, settings)).rejects.toMatchObject({ type: 'access-denied' });
    standIn.faults.appends({ kind: 'timeout', stored: true }, { stream });
    await expect(append(stream, settings)).rejects.toMatchObject({ type: 'deadline-exceeded' });
    expect(await countIn(stream)).toBe(1);
  });

  test('that is answered twice throws in the client outside every promise', async ({ standIn }) => {
    const stream = newStream();
    standIn.faults.appends({ kind: 'answered-twice' }, { stream });
    const script = `import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
      process.on('uncaughtException', (error) => { console.log('uncaught', error.constructor.name); process.exit(0); });
      const client = EventStoreDBClient.connectionString('${standIn.address}');
      console.log('success', (await client.appendToStream('${stream}', jsonEvent({ type: 'Noted', data: {} }))).success);
      setTimeout(() => process.exit(1), 5_000);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: PROJECT,
    });
    expect(stdout.trim().split('\n').sort()).toEqual(['success true', 'uncaught TypeError']);
  });
});

describe('a read', () => {
  test('can fail in the middle, or be silently cut there', async ({ append, client, standIn }) => {
    const stream = newStream();
    for (let n = 0; n < 10; n += 1) await append(stream);
    standIn.faults.reads({ kind: 'error', afterEvents: 3 }, { stream });
    expect(await follow(client.readStream(stream))).toMatchObject({ error: { type: 'unavailable' } });
    standIn.faults.reads({ kind: 'cut', afterEvents: 4 }, { stream: '$all' });
    expect(await follow(client.readAll({ fromPosition: END, direction: BACKWARDS, maxCount: 10 }))).toEqual({
      count: 4,
    });
    expect(await follow(client.readStream(stream))).toEqual({ count: 10 });
  });

  test('can be refused, late or never answered', async ({ append, client, standIn }) => {
    const stream = newStream();
    await append(stream);
    standIn.faults.reads({ kind: 'access-denied' });
    expect(await follow(client.readStream(stream))).toMatchObject({
      count: 0,
      error: { type: 'access-denied' },
    });
    standIn.faults.reads({ kind: 'delayed', delayMs: SHORT_MS });
    const late = follow(client.readStream(stream));
    expect(await settledWithin(late, SHORT_MS / 2)).toBe(false);
    expect(await late).toEqual({ count: 1 });
    standIn.faults.reads({ kind: 'unanswered' });
    const never = client.readStream(stream);
    const read = follow(never);
    await untilMet(standIn);
    expect(await settledWithin(read, SHORT_MS)).toBe(false);
    await never.cancel();
  });
});
