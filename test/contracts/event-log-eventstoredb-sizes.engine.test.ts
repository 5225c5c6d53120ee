import { expect, test } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { AppendTooLarge } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM } from '#shared/event-log/event-log.ts';
import { type StandInOptions, startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { anEvent, aStream, readAll } from './event-log-engine.ts';

/** Servers with lower limits than ours. */
const MIB = 1_048_576;
const sized = (bytes: number) => anEvent({ text: 'x'.repeat(bytes - '{"text":""}'.length) });

const onServer = async (
  options: StandInOptions,
  use: (log: EventLog, sentCalls: () => number) => Promise<void>,
): Promise<void> => {
  await using standIn = await startEventStoreStandIn(options);
  await using log = await openEventStoreEventLog({ clock: REAL_TIME, url: standIn.address });
  await use(log, standIn.appendCalls);
};

test('an event over the limit of the server is too large, is not sent again, and nothing else fails', () =>
  onServer({ version: '26.0.3', appendBytesMax: MIB, eventBytesMax: MIB }, async (log) => {
    const [stream, other] = [aStream(), aStream()];
    const [refused] = await Promise.allSettled([
      log.append(stream, NO_STREAM, [sized(MIB)]),
      log.append(other, NO_STREAM, [anEvent()]),
    ]);
    expect(refused).toMatchObject({ reason: { code: 'append_too_large', bytesMax: MIB } });
    expect(await readAll(log, stream)).toEqual([]);
    expect(await readAll(log, other)).toHaveLength(1);
  }));

test('a message over the limit of the server is too large, and the other appends of its call are stored once', () =>
  onServer({ messageBytesMax: 100_000 }, async (log, sentCalls) => {
    const streams = Array.from({ length: 20 }, () => aStream());
    const bytesOf = (n: number) => (n === 7 || n === 12 ? 200_000 + n : 1_000);
    const outcomes = await Promise.allSettled(
      streams.map((stream, n) => log.append(stream, NO_STREAM, [sized(bytesOf(n))])),
    );
    const refused = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason);
    expect(refused.map((reason) => reason instanceof AppendTooLarge)).toEqual(
      streams.map((_, n) => n === 7 || n === 12),
    );
    expect(`${refused[7]}`).toMatch(/is \d{6} bytes, which is more than the server accepts/);
    for (const [n, stream] of streams.entries())
      expect(await readAll(log, stream)).toHaveLength(bytesOf(n) > 100_000 ? 0 : 1);
    expect(sentCalls()).toBeLessThan(10);
  }));
