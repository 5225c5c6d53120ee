import { expect, test } from 'vitest';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import type { RecordedEvent } from './event-log.ts';
import { type LogPage, POLL_MS, Tail } from './tail.ts';

/** A record of the log; the engine’s own records have no event. */
type LogRecord = {
  readonly position: Position;
  readonly id: string;
  readonly event: RecordedEvent | undefined;
};

const anEvent = (position: number, id = `event ${position}`): LogRecord => ({
  position: position as Position,
  id,
  event: {
    position: position as Position,
    id: id as EventId,
    stream: 'thing-1' as StreamName,
    version: 1 as Version,
    type: 'thing.noted',
    data: {},
    metadata: {},
    recordedAt: new Date(0),
  },
});
const ofTheEngine = (position: number): LogRecord => ({
  position: position as Position,
  id: `record ${position}`,
  event: undefined,
});

/** A tail of a log in memory that counts its reads; `until` holds the pages back. */
const aTail = (log: LogRecord[]) => {
  const reads = { count: 0, until: Promise.resolve() };
  const read = async (after: Position): Promise<LogPage> => {
    reads.count += 1;
    const [at, next] = [
      log.find(({ position }) => position === after),
      log.filter(({ position }) => position > after),
    ];
    const events = next.flatMap(({ event }) => event ?? []);
    await reads.until;
    const seen = at?.event && { position: at.event.position, id: at.event.id };
    const lastRecord = next.at(-1) ?? at;
    const last = next.at(-1)?.position ?? after;
    return {
      ...{ at: seen, atRecord: at?.id, events, sizes: events.map(() => 1) },
      ...{ last, lastRecord: lastRecord?.id, isCut: false, isAway: false },
    };
  };
  const clock = createTestClock();
  const tail = new Tail({ clock, read, notified: () => 0, hasNews: () => false, isLive: () => true });
  return { tail, reads, clock };
};
const at = (position: number) => position as Position;
const idsOf = ({ events }: { readonly events: readonly RecordedEvent[] }) => events.map(({ id }) => id);

test('records of a subscription are delivered without reading the log', async () => {
  const { tail, reads } = aTail([anEvent(10)]);
  await tail.look(at(0));
  expect([tail.push(at(10), anEvent(20)), tail.push(at(20), anEvent(30))]).toEqual([true, true]);
  expect(idsOf(await tail.after(at(10), undefined))).toEqual(['event 20', 'event 30']);
  expect(idsOf(await tail.after(at(0), undefined))).toEqual(['event 10', 'event 20', 'event 30']);
  expect(reads.count).toBe(1);
});

test('a record that the window has already is not added again', async () => {
  const { tail } = aTail([anEvent(10), anEvent(20)]);
  await tail.look(at(0));
  expect(tail.push(at(10), anEvent(20))).toBe(true);
  expect(idsOf(await tail.after(at(0), undefined))).toEqual(['event 10', 'event 20']);
});

test('a record behind a gap is refused, and so is one before any read', async () => {
  const { tail } = aTail([anEvent(10)]);
  expect(tail.push(at(0), anEvent(10))).toBe(false);
  await tail.look(at(0));
  expect(tail.push(at(20), anEvent(30))).toBe(false);
  expect(tail.end).toBe(10);
});

test('a page that was read before further records arrived leaves those in the window', async () => {
  const { tail, reads } = aTail([anEvent(10)]);
  await tail.look(at(0));
  const { promise, resolve } = Promise.withResolvers<void>();
  reads.until = promise;
  const looking = tail.look(at(10));
  tail.push(at(10), anEvent(20));
  resolve();
  await looking;
  expect(idsOf(await tail.after(at(10), undefined))).toEqual(['event 20']);
  expect(reads.count).toBe(2);
});

test('a page of another history, read while records arrived, ends the window', async () => {
  const log = [anEvent(10)];
  const { tail, reads } = aTail(log);
  await tail.look(at(0));
  log[0] = anEvent(10, 'another');
  const { promise, resolve } = Promise.withResolvers<void>();
  reads.until = promise;
  const looking = tail.look(at(10));
  tail.push(at(10), anEvent(20));
  resolve();
  await looking;
  expect(tail.end).toBe(0);
});

test('a live window is verified now and then, and serves reads meanwhile', async () => {
  const log = [anEvent(10)];
  const { tail, reads, clock } = aTail(log);
  await tail.look(at(0));
  await clock.advance(POLL_MS);
  reads.until = new Promise(() => {});
  for (let n = 0; n < 3; n += 1) expect(idsOf(await tail.after(at(0), undefined))).toEqual(['event 10']);
  expect(reads.count).toBe(2);
});

test('a log that has lost its end ends the window', async () => {
  const log = [anEvent(10), anEvent(20)];
  const { tail } = aTail(log);
  await tail.look(at(0));
  log.pop();
  await tail.look(at(10));
  expect(tail.end).toBe(0);
});

test("the window continues behind one of the engine's own records", async () => {
  const log = [anEvent(10), ofTheEngine(20)];
  const { tail, reads } = aTail(log);
  await tail.look(at(0));
  log.push(anEvent(30));
  await tail.look(at(20));
  expect(idsOf(await tail.after(at(0), undefined))).toEqual(['event 10', 'event 30']);
  expect(reads.count).toBe(2);
});

test('the window starts over if another record is at its end', async () => {
  const log = [anEvent(10), ofTheEngine(20)];
  const { tail } = aTail(log);
  await tail.look(at(0));
  log.splice(1, 1, { ...ofTheEngine(20), id: 'another' }, anEvent(30));
  await tail.look(at(20));
  expect(idsOf(await tail.after(at(20), undefined))).toEqual(['event 30']);
  log.splice(0, 1, anEvent(10, 'another'));
  expect(idsOf(await tail.after(at(0), undefined))).toEqual(['another', 'event 30']);
});
