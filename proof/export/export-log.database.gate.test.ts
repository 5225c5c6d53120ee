// Over 200 lines, because every interruption and every damage uses the export that is set up here.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { test as base, createAuditedLog } from '../../test/engines/audited-log.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { startEventStoreStandIn } from '../../test/engines/eventstoredb/server.ts';
import { hashOf } from '../stored/canonical.ts';
import type { Order } from './append-in-order.ts';
import { fromLine } from './cloud-event.ts';
import { exportLog } from './export-log.ts';
import { fillLog } from './fill-log.ts';
import { openExport, readEvents } from './read-export.ts';

const test = base
  .extend('fill', { scope: 'file' }, () => async (audited) => {
    await audited.append(60);
    await audited.prove();
  })
  .extend('folder', { scope: 'file' }, ({ audited: _exported }, { onCleanup }) => {
    const used = new AsyncDisposableStack();
    onCleanup(() => used.disposeAsync());
    return async () => join(used.use(await temporaryDataDir()).path, 'export');
  })
  /** Stops after that many events, as if killed. */
  .extend(
    'exporting',
    { scope: 'file' },
    ({ audited }) =>
      (eventsMax = Number.POSITIVE_INFINITY, fileBytesMax = FILE_BYTES) => ({
        ...audited,
        eventLog: {
          ...audited.eventLog,
          async *follow(after: Position, signal: AbortSignal) {
            let left = eventsMax;
            for await (const page of audited.eventLog.follow(after, signal))
              for (const event of page) {
                if (left === 0) throw new Stopped();
                left -= 1;
                yield [event];
              }
          },
        } as EventLog,
        signal: never,
        onProgress: () => {},
        fileBytesMax,
      }),
  );

const never = new AbortController().signal;
const FILE_BYTES = 4_000;
const all = { after: START, upTo: undefined, withKeys: false };
const contentsOf = async (path: string) =>
  Promise.all(
    (await readdir(path))
      .toSorted()
      .map(async (name) => [name, await readFile(join(path, name), 'utf8')] as const),
  );

test('every event is a CloudEvent on a line, in files of a bounded size, and nothing is lost', async ({
  audited,
  exporting,
  folder,
}) => {
  const path = await folder();
  const manifest = await exportLog(exporting(), path, all);
  expect(manifest).toMatchObject({
    count: 60,
    after: 0,
    upTo: 60,
    log: audited.eventLog.identity,
    persons: null,
  });
  expect(manifest.files.length).toBeGreaterThan(2);
  for (const { bytes } of manifest.files) expect(bytes).toBeLessThanOrEqual(FILE_BYTES);
  expect(manifest.heads).toHaveLength(1);
  const lines = (await contentsOf(path)).flatMap(([name, text]) =>
    name.startsWith('events-') ? text.trimEnd().split('\n') : [],
  );
  const events = await audited.events();
  expect(lines.map((line) => hashOf(fromLine(audited.eventLog.identity, line)))).toEqual(events.map(hashOf));
  const [first] = lines.map((line) => JSON.parse(line));
  expect(first).toMatchObject({
    specversion: '1.0',
    id: events[0]?.id,
    source: `urn:uuid:${audited.eventLog.identity}`,
    type: 'thing.noted',
    subject: events[0]?.stream,
    datacontenttype: 'application/json',
    sequence: '0000000000000001',
    streamversion: 1,
    data: { n: 0 },
  });
  // The form of attribute names in CloudEvents.
  for (const name of Object.keys(first)) expect(name).toMatch(/^[a-z0-9]{1,20}$/);
});

test('an interrupted export is resumed by the same command, and ends with the same bytes', async ({
  audited,
  exporting,
  folder,
}) => {
  const [broken, whole] = [await folder(), await folder()];
  for (const events of [0, 7, 25])
    await expect(exportLog(exporting(events), broken, all)).rejects.toThrow(Stopped);
  const before = await contentsOf(broken);
  expect(before.filter(([name]) => /^events-\d+\.jsonl$/.test(name)).length).toBeGreaterThan(1);
  await audited.append(1);
  const manifest = await exportLog(exporting(), broken, all);
  const { at } = manifest;
  await exportLog(exporting(), whole, { ...all, upTo: manifest.upTo });
  const [ends, expected] = [await contentsOf(broken), await contentsOf(whole)];
  expect(ends.filter(([name]) => name !== 'manifest.json')).toEqual(
    expected.filter(([name]) => name !== 'manifest.json'),
  );
  expect(ends.map(([name]) => name)).toEqual(expected.map(([name]) => name));
  const signed = (contents: typeof ends) =>
    JSON.parse(contents.find(([name]) => name === 'manifest.json')?.[1] ?? '');
  expect({ ...signed(expected), at, signature: '' }).toEqual({ ...signed(ends), signature: '' });
});

test('a part starts where another ended, and both together fill a log', async ({ exporting, folder }) => {
  const [one, two] = [await folder(), await folder()];
  const first = await exportLog(exporting(), one, { ...all, upTo: 20 as Position });
  const second = await exportLog(exporting(), two, { ...all, after: 20 as Position });
  expect(second.chain.before).toEqual(first.chain.after);
  await using database = await createDatabase();
  await using target = await openEventLog({ url: database.url, clock: REAL_TIME });
  const fill = async (path: string) => {
    const opened = await openExport(path);
    const { before } = opened.manifest.chain;
    const filling = { target, order: 'batches' as const, signal: never, onEvents: () => {} };
    return fillLog(
      { ...filling, before: { count: before.count, head: Buffer.from(before.head, 'hex') } },
      readEvents(opened),
    );
  };
  await expect(fill(two)).rejects.toThrow('The target log has 0 events');
  await fill(one);
  expect((await fill(two)).head.toString('hex')).toBe(second.chain.after.head);
  expect((await fill(two)).appended).toBe(0);
});

test('a folder with other files is left alone', async ({ exporting, folder }) => {
  const path = await folder();
  await exportLog(exporting(), path, all);
  await expect(exportLog(exporting(), path, all)).rejects.toThrow('contains a finished export');
  const other = dirname(await folder());
  await writeFile(join(other, 'letter.txt'), 'Dear');
  await expect(exportLog(exporting(), other, all)).rejects.toThrow('is not empty');
  const begun = await folder();
  await expect(exportLog(exporting(25), begun, all)).rejects.toThrow(Stopped);
  await expect(exportLog(exporting(), begun, { ...all, after: 3 as Position })).rejects.toThrow(
    'another unfinished export',
  );
  await writeFile(join(begun, 'events-000001.jsonl'), 'changed');
  await expect(exportLog(exporting(), begun, all)).rejects.toThrow('was changed since it was written');
});

test('an export that contradicts the chain is not signed', async ({ folder }) => {
  await using tampered = await createAuditedLog();
  await tampered.append(3);
  await tampered.prove();
  await tampered.tamper(`update event_log.event set data = '{"n":7}' where position = 2`);
  const path = await folder();
  const { pool, eventLog, masterKey } = tampered;
  const attempt = exportLog({ pool, eventLog, masterKey, signal: never, onProgress: () => {} }, path, all);
  await expect(attempt).rejects.toThrow('audit verify');
  expect(await readdir(path)).not.toContain('manifest.json');
});

const changing = (name: string, change: (text: string) => string) => async (path: string) =>
  writeFile(join(path, name), change(await readFile(join(path, name), 'utf8')));
const TAMPERINGS: readonly (readonly [string, (path: string) => Promise<unknown>])[] = [
  ['a changed line', changing('events-000001.jsonl', (text) => text.replace('"n":3', '"n":4'))],
  ['a dropped line', changing('events-000002.jsonl', (text) => text.slice(text.indexOf('\n') + 1))],
  [
    'swapped lines',
    changing('events-000001.jsonl', (text) => {
      const [one, two, ...rest] = text.split('\n');
      return [two, one, ...rest].join('\n');
    }),
  ],
  ['a changed manifest', changing('manifest.json', (text) => text.replace('"upTo":60', '"upTo":59'))],
  ['a missing file', (path) => rm(join(path, 'events-000002.jsonl'))],
  ['a torn file', changing('events-000001.jsonl', (text) => text.slice(0, -10))],
];

test.for(TAMPERINGS)(
  '%s is found before anything is imported',
  async ([_what, tamper], { exporting, folder }) => {
    const path = await folder();
    await exportLog(exporting(), path, { ...all, upTo: 60 as Position });
    const read = async () => Array.fromAsync(readEvents(await openExport(path)));
    expect((await read()).flat()).toHaveLength(60);
    await tamper(path);
    await expect(read()).rejects.toThrow(/changed|missing|ends in the middle/);
  },
);

test.for<[string, Order, () => Promise<{ readonly url: string } & AsyncDisposable>]>([
  ['PostgreSQL', 'batches', createDatabase],
  [
    'EventStoreDB',
    'one by one',
    async () => {
      const standIn = await startEventStoreStandIn();
      return { url: standIn.address, [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose]() };
    },
  ],
])(
  '%s is filled in the order of the source, resumes after an interruption, and refuses foreign events',
  async ([_name, order, start], { audited }) => {
    await using engine = await start();
    await using target = await openEventLog({ url: engine.url, clock: REAL_TIME });
    const events = await audited.events();
    // Streams that alternate.
    const source = async function* () {
      for (let from = 0; from < events.length; from += 25) yield events.slice(from, from + 25);
    };
    const filling = { target, order, signal: never, onEvents: () => {} };
    const dying = {
      ...filling,
      onEvents: (count: number) => {
        if (count === 50) throw new Stopped();
      },
    };
    await expect(fillLog(dying, source())).rejects.toThrow(Stopped);
    const filled = await fillLog(filling, source());
    expect(filled).toMatchObject({ count: events.length, appended: events.length - 50 });
    const pages: Buffer[] = [];
    for await (const page of target.follow(START, never)) {
      pages.push(...page.map(hashOf));
      if (pages.length >= events.length) break;
    }
    expect(pages).toEqual(events.map(hashOf));
    await expect(
      fillLog(
        filling,
        (async function* () {
          yield events.slice(0, 3).toReversed();
        })(),
      ),
    ).rejects.toThrow('is neither empty nor the start of this');
    await expect(
      fillLog(
        filling,
        (async function* () {
          yield events.slice(0, 3);
        })(),
      ),
    ).rejects.toThrow('has further events');
  },
);
