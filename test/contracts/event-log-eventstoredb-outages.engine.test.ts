import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type EventLog, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { scaled } from '../../testing/load.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startEventStoreProcess } from '../engines/eventstoredb/process.ts';
import { anEvent, aStream, startFollowing } from './event-log-engine.ts';

/**
 * Only a process that stops in order ends its calls without an error. Servers that are killed, hang or stay
 * away are in event-log-eventstoredb-faults.engine.test.ts.
 */

const TIMING = { retryBudgetMs: scaled(10_000), answerWithinMs: 400, silenceMaxMs: 400 };
const WRITERS = 64;

test('after a server has stopped in the midst of appends and started, each is in the log exactly once', async () => {
  await using folder = await temporaryDataDir();
  const data = join(folder.path, 'log');
  await using server = await startEventStoreProcess({ data });
  await using successors = new AsyncDisposableStack();
  await using log = await openEventStoreEventLog({ clock: REAL_TIME, url: server.address, timing: TIMING });
  await using follower = startFollowing(log, START);
  const ids = await appendWhile(log, async () => {
    await server.signal('SIGTERM');
    successors.use(await startEventStoreProcess({ data, port: server.port }));
  });
  const seen = await follower.until((events) => events.length >= ids.length);
  expect(seen.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
});

/** Appends with many writers, and disturbs the server after a third. */
const appendWhile = async (log: EventLog, disturb: () => Promise<void>): Promise<readonly string[]> => {
  const ids: string[] = [];
  const third = Promise.withResolvers<void>();
  const write = async () => {
    for (let n = 0; n < 15; n += 1) {
      const event = anEvent();
      await log.append(aStream(), NO_STREAM, [event]);
      ids.push(event.id);
      if (ids.length === WRITERS * 5) third.resolve();
    }
  };
  await Promise.all([...Array.from({ length: WRITERS }, write), third.promise.then(disturb)]);
  return ids;
};
