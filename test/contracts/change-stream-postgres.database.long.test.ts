import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { Notifier } from '#shared/notifier.ts';
import { registerUser } from '../engines/command-side.ts';
import { LOG_ENGINES } from '../engines/log-engines.ts';
import { untilProjected } from '../engines/projection.ts';
import { describeChangeStream } from './change-stream.ts';
import { startChangeEngine } from './change-stream-engine.ts';

for (const [name, startLog] of LOG_ENGINES)
  describeChangeStream(`the log in ${name}`, () => startChangeEngine(startLog));

test('reads no further than its consumer', async () => {
  await using engine = await startChangeEngine();
  const { side } = engine;
  let read = 0;
  const eventLog: EventLog = {
    ...side.eventLog,
    async *follow(after, signal) {
      for await (const events of side.eventLog.follow(after, signal)) {
        for (const event of events) {
          read += 1;
          yield [event];
        }
      }
    },
  };
  for (const name of ['Ada', 'Grace', 'Mary']) await registerUser(side, { name });
  await untilProjected(side);
  await using stream = openPostgresChangeStream({ ...side, eventLog, notifier: new Notifier(REAL_TIME) });
  const leaving = new AbortController();
  const pages = stream.follow(START, leaving.signal)[Symbol.asyncIterator]();
  await pages.next();
  // One cannot wait for an absence; it would have arrived by now.
  await delay(100);
  expect(read).toBe(1);
  leaving.abort();
  expect(await pages.next()).toMatchObject({ done: true });
});

test('ends when the stream is closed', async () => {
  await using engine = await startChangeEngine();
  const stream = await engine.open();
  const following = Array.fromAsync(stream.follow(await stream.head(), new AbortController().signal));
  await stream[Symbol.asyncDispose]();
  expect(await following).toEqual([]);
});
