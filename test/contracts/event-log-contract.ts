// Over 200 lines, because it is one contract, which every event log passes completely.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#kernel/base/json.ts';
import { AppendTooLarge, InvalidAppend, StaleVersion } from '#shared/event-log/errors.ts';
import {
  APPEND_BYTES_MAX,
  APPEND_EVENTS_MAX,
  type EventLog,
  NO_STREAM,
  START,
} from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { scaled } from '../../testing/load.ts';
import { anEvent, aStream, type LogEngine, readAll, startFollowing, version } from './event-log-engine.ts';
import { describeOrder } from './event-log-order.ts';
import { describeSharedLooks } from './event-log-shared-looks.ts';

/** The maximum of a page of large events, whatever the engine's own limit. */
const PAGE_BYTES_MAX = 20 * 1_048_576;

/** The contract of every event log, whatever its storage. */
export const describeEventLog = (name: string, startEngine: () => Promise<LogEngine>): void => {
  describe(`event log: ${name}`, () => {
    let engine: LogEngine;
    let log: EventLog;
    beforeAll(async () => {
      engine = await startEngine();
      log = await engine.open();
    }, scaled(60_000));
    afterAll(async () => {
      await log?.[Symbol.asyncDispose]();
      await engine?.[Symbol.asyncDispose]();
    });

    describeAppend(
      () => log,
      () => engine,
    );
    describeRepeats(
      () => log,
      () => engine,
    );
    describeContent(() => log);
    describeRead(() => log);
    describeFollow(() => log);
    describeSharedLooks(() => engine);
    describeOrder(() => engine);
  });
};

const describeAppend = (log: () => EventLog, engine: () => LogEngine): void => {
  test('has one identity, whoever opens it', async () => {
    await using other = await engine().open();
    expect(other.identity).toBe(log().identity);
    expect(log().identity).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('appends to a new stream and returns version and position', async () => {
    const stream = aStream();
    const first = await log().append(stream, NO_STREAM, [anEvent()]);
    const second = await log().append(stream, first.version, [anEvent(), anEvent()]);
    expect(first.version).toBe(1);
    expect(second.version).toBe(3);
    const recorded = await readAll(log(), stream);
    expect(recorded.map((event) => event.version)).toEqual([1, 2, 3]);
    expect(recorded[0]?.position).toBe(first.position);
    expect(recorded[2]?.position).toBe(second.position);
    expect(await log().head()).toBeGreaterThanOrEqual(second.position);
  });

  test.each([
    ['no stream, but there is one', 2, NO_STREAM],
    ['a version that has passed', 2, version(1)],
    ['a version that has not come', 2, version(7)],
    ['a version of a missing stream', 0, version(1)],
    ['a version that no stream ever has', 2, version(3_000_000_000)],
  ])('refuses an append that expects %s', async (_what, length, expected) => {
    const stream = aStream();
    if (length > 0)
      await log().append(
        stream,
        NO_STREAM,
        Array.from({ length }, () => anEvent()),
      );
    const refused = log().append(stream, expected, [anEvent(), anEvent()]);
    await expect(refused).rejects.toThrow(StaleVersion);
    await expect(refused).rejects.toMatchObject({ code: 'stale_version', stream, expected });
    expect(await readAll(log(), stream)).toHaveLength(length);
  });

  test('appends at any version', async () => {
    const stream = aStream();
    expect((await log().append(stream, 'any', [anEvent()])).version).toBe(1);
    expect((await log().append(stream, 'any', [anEvent()])).version).toBe(2);
  });

  test.each<[string, Parameters<EventLog['append']>]>([
    ['no events', [aStream(), NO_STREAM, []]],
    [
      'too many events',
      [aStream(), NO_STREAM, Array.from({ length: APPEND_EVENTS_MAX + 1 }, () => anEvent())],
    ],
    ['a negative version', [aStream(), version(-1), [anEvent()]]],
    ['a version that is no whole number', [aStream(), version(0.5), [anEvent()]]],
    ['an empty type', [aStream(), NO_STREAM, [anEvent({}, '')]]],
    ["a system's type", [aStream(), NO_STREAM, [anEvent({}, '$metadata')]]],
    ['an id that is no UUID', [aStream(), NO_STREAM, [{ ...anEvent(), id: 'not-a-uuid' as never }]]],
    ['an empty stream name', ['' as never, NO_STREAM, [anEvent()]]],
    ["a system's stream name", ['$settings' as never, 'any', [anEvent()]]],
    ['a stream name with a line break', ['thing-1\n' as never, 'any', [anEvent()]]],
  ])('refuses %s, and continues to work', async (_what, append) => {
    await expect(log().append(...append)).rejects.toThrow(InvalidAppend);
    await expect(log().append(aStream(), NO_STREAM, [anEvent()])).resolves.toMatchObject({ version: 1 });
  });

  test('refuses a repeated event id in one append', async () => {
    const event = anEvent();
    await expect(log().append(aStream(), NO_STREAM, [event, event])).rejects.toThrow(InvalidAppend);
  });
};

const describeRepeats = (log: () => EventLog, engine: () => LogEngine): void => {
  test.each([['no stream', NO_STREAM] as const, ['any version', 'any'] as const])(
    'answers a repeat that expects %s as the first time',
    async (_what, expected) => {
      const stream = aStream();
      const events = [anEvent(), anEvent()];
      const first = await log().append(stream, expected, events);
      expect(await log().append(stream, expected, events)).toEqual({ version: 2, position: first.position });
      await log().append(stream, version(2), [anEvent()]);
      expect(await log().append(stream, expected, events)).toMatchObject({ version: 2 });
      await using other = await engine().open();
      expect(await other.append(stream, expected, events)).toMatchObject({ version: 2 });
      expect(await readAll(log(), stream)).toHaveLength(3);
    },
  );

  test('answers a repeated append at an exact version like the first time', async () => {
    const stream = aStream();
    await log().append(stream, NO_STREAM, [anEvent()]);
    const events = [anEvent(), anEvent()];
    const first = await log().append(stream, version(1), events);
    expect(await log().append(stream, version(1), events)).toEqual(first);
    expect(await readAll(log(), stream)).toHaveLength(3);
  });

  test('stores one of many equal parallel appends', async () => {
    const stream = aStream();
    const events = [anEvent()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => log().append(stream, NO_STREAM, events)),
    );
    expect(new Set(answers.map((answer) => answer.version))).toEqual(new Set([1]));
    expect(await readAll(log(), stream)).toHaveLength(1);
  });

  test.each([['no stream', NO_STREAM] as const, ['any version', 'any'] as const])(
    'refuses a known event with a new one, expecting %s',
    async (_what, expected) => {
      const stream = aStream();
      const known = anEvent();
      await log().append(stream, NO_STREAM, [known]);
      await expect(log().append(stream, expected, [known, anEvent()])).rejects.toThrow(StaleVersion);
      expect(await readAll(log(), stream)).toHaveLength(1);
    },
  );
};

const describeContent = (log: () => EventLog): void => {
  test.each<[string, JsonObject]>([
    ['text beyond the basic plane', { text: 'ünï😀\u2028' }],
    ['an escaped NUL', { text: 'a\u0000b' }],
    ['lone surrogates', { text: '\ud800 and \udc00' }],
    ['nested lists and nulls', { nested: { list: [1, null, true, [], {}, 0.1, -1e21] } }],
    ['keys in their order', { z: 1, a: 2, '10': 3, '': 4 }],
    ['nothing', {}],
  ])('stores %s', async (_what, data) => {
    const stream = aStream();
    const event = { ...anEvent(data), metadata: { version: 2, $correlationId: 'c-1', data } };
    const { position } = await log().append(stream, NO_STREAM, [event]);
    const [recorded] = await readAll(log(), stream);
    expect(recorded).toEqual({ ...event, stream, version: 1, position, recordedAt: expect.any(Date) });
  });

  const bytesOf = (bytes: number): JsonObject => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });

  test('stores an event of the maximum size', async () => {
    const stream = aStream();
    await log().append(stream, NO_STREAM, [anEvent(bytesOf(APPEND_BYTES_MAX))]);
    const [recorded] = await readAll(log(), stream);
    expect(recorded?.data).toEqual(bytesOf(APPEND_BYTES_MAX));
  });

  test.each([
    ['one event', [APPEND_BYTES_MAX + 1]],
    ['two events together', [600_000, 600_000]],
    ['one far over it', [5 * 1_048_576]],
  ])('refuses %s over the limit of size, and names the limit', async (_what, sizes) => {
    const stream = aStream();
    const refused = log().append(
      stream,
      NO_STREAM,
      sizes.map((bytes) => anEvent(bytesOf(bytes))),
    );
    await expect(refused).rejects.toThrow(AppendTooLarge);
    await expect(refused).rejects.toThrow(/limit is 1048576/);
    expect(await readAll(log(), stream)).toEqual([]);
  });

  test('refuses metadata over its limit', async () => {
    const event = { ...anEvent(), metadata: { text: 'x'.repeat(70_000) } };
    await expect(log().append(aStream(), NO_STREAM, [event])).rejects.toThrow(AppendTooLarge);
  });
};

const describeRead = (log: () => EventLog): void => {
  test('reads a missing stream as empty', async () => {
    expect(await readAll(log(), aStream())).toEqual([]);
  });

  test('reads from a version on, even beyond the end', async () => {
    const stream = aStream();
    await log().append(stream, NO_STREAM, [anEvent({ n: 1 }), anEvent({ n: 2 }), anEvent({ n: 3 })]);
    expect((await readAll(log(), stream, version(2))).map(({ data }) => data)).toEqual([{ n: 2 }, { n: 3 }]);
    expect(await readAll(log(), stream, version(4))).toEqual([]);
    expect(await readAll(log(), stream, version(9))).toEqual([]);
  });

  test('reads up to a version', async () => {
    const stream = aStream();
    await log().append(
      stream,
      NO_STREAM,
      Array.from({ length: 5 }, (_, n) => anEvent({ n })),
    );
    const read = async (from: number, to: number) =>
      (await Array.fromAsync(log().read(stream, version(from), version(to))))
        .flat()
        .map(({ version: each }) => each);
    expect(await read(2, 4)).toEqual([2, 3, 4]);
    expect(await read(3, 3)).toEqual([3]);
    expect(await read(4, 9)).toEqual([4, 5]);
    expect(await read(4, 3)).toEqual([]);
    expect(await read(6, 9)).toEqual([]);
  });

  const aLongStream = async () => {
    const stream = aStream();
    for (const from of [0, 900, 1800])
      await log().append(
        stream,
        version(from),
        Array.from({ length: 900 }, (_, n) => anEvent({ n: from + n })),
      );
    return stream;
  };

  test('reads in pages up to a version only', async () => {
    const stream = await aLongStream();
    const read = (await Array.fromAsync(log().read(stream, version(101), version(2_300)))).flat();
    expect(read.map(({ data }) => data.n)).toEqual(Array.from({ length: 2_200 }, (_, n) => 100 + n));
  });

  test('reads the events between two positions, few at first', async () => {
    const stream = aStream();
    const before = await log().head();
    const { position } = await log().append(stream, NO_STREAM, [anEvent(), anEvent(), anEvent(), anEvent()]);
    const all = (await Array.fromAsync(log().read(stream))).flat();
    const [some, ...others] = await Array.fromAsync(
      readBetween(log(), { after: before, upTo: position, first: 1 }),
    );
    expect([some, ...others].flat()).toEqual(all);
    // Other engines are followed, in whole pages.
    if (log().page !== undefined) expect(some).toHaveLength(1);
    const upTo = all[1]?.position ?? position;
    expect((await Array.fromAsync(readBetween(log(), { after: before, upTo, first: 100 }))).flat()).toEqual(
      all.slice(0, 2),
    );
    // Between two events, where engines whose positions have gaps have positions of none.
    const gap = ((all[1]?.position ?? position) - 1) as typeof position;
    for (const first of [undefined, 1, 100])
      expect(
        await Array.fromAsync(
          readBetween(log(), { after: all[0]?.position ?? before, upTo: gap, ...(first && { first }) }),
        ),
      ).toEqual([]);
  });

  test('finds an event of a stream by id, after a position', async () => {
    const [stream, other] = [aStream(), aStream()];
    const [first, second, third] = [anEvent(), anEvent(), anEvent()];
    const before = await log().head();
    const begun = await log().append(stream, NO_STREAM, [first, second]);
    const appended = await log().append(stream, version(2), [third]);
    await log().append(
      stream,
      version(3),
      Array.from({ length: 1_000 }, () => anEvent()),
    );
    await log().append(other, NO_STREAM, [anEvent()]);
    expect(await log().find(stream, third.id, before)).toEqual(appended);
    expect(await log().find(stream, third.id, begun.position)).toEqual(appended);
    expect(await log().find(stream, second.id, START)).toEqual(begun);
    expect(await log().find(stream, first.id, START)).toMatchObject({ version: 1 });
    expect(await log().find(stream, second.id, begun.position)).toBeUndefined();
    expect(await log().find(stream, anEvent().id, START)).toBeUndefined();
    expect(await log().find(other, third.id, START)).toBeUndefined();
    expect(await log().find(aStream(), third.id, START)).toBeUndefined();
  });

  test('reads a long stream in pages, complete and in order', async () => {
    const stream = await aLongStream();
    const pages = await Array.fromAsync(log().read(stream));
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat().map(({ data }) => data.n)).toEqual(Array.from({ length: 2_700 }, (_, n) => n));
  });

  test('reads large events in pages that fit into memory', async () => {
    const stream = aStream();
    for (let n = 0; n < 24; n += 1)
      await log().append(stream, version(n), [anEvent({ n, text: 'x'.repeat(1_000_000) })]);
    const pages = await Array.fromAsync(log().read(stream));
    expect(pages.flat().map(({ data }) => data.n)).toEqual(Array.from({ length: 24 }, (_, n) => n));
    expect(pages.length).toBeGreaterThan(1);
    for (const page of pages)
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(PAGE_BYTES_MAX);
  });
};

const describeFollow = (log: () => EventLog): void => {
  test('follows from the start, from any position, and from the current end', async () => {
    const stream = aStream();
    const before = await log().head();
    await log().append(stream, NO_STREAM, [anEvent({ n: 1 }), anEvent({ n: 2 }), anEvent({ n: 3 })]);
    const recorded = await readAll(log(), stream);
    const mine = (seen: readonly { stream: string; data: JsonObject }[]) =>
      seen.filter((event) => event.stream === stream).map(({ data }) => data.n);

    await using fromStart = startFollowing(log(), START);
    await using fromBefore = startFollowing(log(), before);
    await using fromSecond = startFollowing(log(), recorded[1]?.position ?? START);
    await using fromNow = startFollowing(log(), await log().head());
    await log().append(stream, version(3), [anEvent({ n: 4 })]);
    expect(mine(await fromStart.until((seen) => mine(seen).includes(4)))).toEqual([1, 2, 3, 4]);
    expect(mine(await fromBefore.until((seen) => mine(seen).includes(4)))).toEqual([1, 2, 3, 4]);
    expect(mine(await fromSecond.until((seen) => mine(seen).includes(4)))).toEqual([3, 4]);
    expect(mine(await fromNow.until((seen) => mine(seen).includes(4)))).toEqual([4]);
    expect(fromBefore.seen[0]).toEqual(recorded[0]);
  });

  test('returns once aborted: before it starts, while it waits, and between two pages', async () => {
    const aborted = AbortSignal.abort();
    expect(await Array.fromAsync(log().follow(START, aborted))).toEqual([]);

    const waiting = new AbortController();
    const idle = Array.fromAsync(log().follow(await log().head(), waiting.signal));
    setImmediate(() => waiting.abort());
    expect(await idle).toEqual([]);

    for (let n = 0; n < 3; n += 1)
      await log().append(
        aStream(),
        NO_STREAM,
        Array.from({ length: 900 }, () => anEvent()),
      );
    const between = new AbortController();
    let pages = 0;
    for await (const _ of log().follow(START, between.signal)) {
      pages += 1;
      between.abort();
    }
    expect(pages).toBe(1);
  });

  test('can be stopped in the middle of a page', async () => {
    await log().append(aStream(), NO_STREAM, [anEvent(), anEvent()]);
    for await (const events of log().follow(START, new AbortController().signal)) {
      expect(events.length).toBeGreaterThan(0);
      break;
    }
  });

  test('a slow follower does not delay another', async () => {
    const before = await log().head();
    const slow = log().follow(before, new AbortController().signal)[Symbol.asyncIterator]();
    await log().append(aStream(), NO_STREAM, [anEvent()]);
    await slow.next();
    await using fast = startFollowing(log(), before);
    for (let n = 0; n < 20; n += 1) await log().append(aStream(), NO_STREAM, [anEvent()]);
    await fast.until((seen) => seen.length >= 21);
    await slow.return?.();
  });
};
