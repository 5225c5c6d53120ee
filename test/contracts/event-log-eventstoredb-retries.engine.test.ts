// Over 200 lines, because it is one server, which answers reads and refuses appends, or is silent.
import { setTimeout as delay } from 'node:timers/promises';
import { test as base, describe, expect } from 'vitest';
import { openEventStoreEventLog } from '#adapters/eventstoredb/eventstore-event-log.ts';
import { logOutages } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { type EventLog, NO_STREAM } from '#shared/event-log/event-log.ts';
import { shareRetryBudget } from '#shared/event-log/request-deadline.ts';
import { until } from '../../testing/until.ts';
import { openCuttable } from '../engines/cuttable.ts';
import type { NotNow } from '../engines/eventstoredb/faults.ts';
import { startStandIn } from '../engines/eventstoredb-fixture.ts';
import { createTestClock } from '../engines/test-clock.ts';
import { anEvent, aStream } from './event-log-engine.ts';

/** A server that answers reads, and refuses appends or leaves them unanswered. */

const TIMING = { retryBudgetMs: 5_000, answerWithinMs: 2_000, silenceMaxMs: 2_000 };

const test = base
  .extend('standInOptions', { scope: 'file' }, {})
  .extend('node', { scope: 'file' }, startStandIn)
  .extend('log', async ({ node }, { onCleanup }) => {
    const log = await openEventStoreEventLog({ clock: REAL_TIME, url: node.address, timing: TIMING });
    onCleanup(() => log[Symbol.asyncDispose]());
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    return log;
  })
  .extend('calls', ({ log: _appended, node }) => node.appendCalls());

test('readiness fails once appends have failed for longer than their retry budget though reads go on, and comes back', async ({
  node,
}) => {
  await using log = await openEventStoreEventLog({
    clock: REAL_TIME,
    url: node.address,
    timing: { ...TIMING, retryBudgetMs: 300 },
  });
  node.faults.appends({ kind: 'not-now', says: 'Server Is Busy' }, { times: 1_000 });
  await expect(log.append(aStream(), NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
  await log.head();
  await until(
    () => log.check().then(() => 'ready', String),
    (output) => output.includes('EventStoreDB has accepted no append for'),
  );
  node.faults.clear();
  await until(
    () => log.check().then(() => 'ready', String),
    (output) => output === 'ready',
  );
});

test('readiness outlasts a silence that requests wait for', async ({ node }) => {
  await using log = await openEventStoreEventLog({ clock: REAL_TIME, url: node.address, timing: TIMING });
  node.pause();
  await log.check();
  await until(
    () => log.check().then(() => 'ready', String),
    (output) => output !== 'ready',
  );
  node.resume();
  await until(
    () => log.check().then(() => 'ready', String),
    (output) => output === 'ready',
  );
});

test('all that a request asks of a silent log shares one retry budget', async ({ log, node }) => {
  node.pause();
  const order: string[] = [];
  const asked = [
    () => log.append(aStream(), NO_STREAM, [anEvent()]),
    () => Array.fromAsync(log.read(aStream())),
    () => log.append(aStream(), 'any', [anEvent()]),
    () => log.head(),
  ];
  const alone = expect(log.head())
    .rejects.toThrow(LogUnavailable)
    .then(() => order.push('one read'));
  const request = async () => {
    for (const ask of asked) await expect(ask()).rejects.toThrow(LogUnavailable);
    order.push('a request');
  };
  await Promise.all([alone, shareRetryBudget(REAL_TIME, request, TIMING.retryBudgetMs / 4)]);
  node.resume();
  expect(order).toEqual(['a request', 'one read']);
});

test('an outage of the log is logged once per cause and minute, and its end too', async ({ node }) => {
  const logged: string[] = [];
  const clock = createTestClock();
  // A busy machine adds silences to the causes.
  const warn = (_fields: object, text: string) => void (text.includes('Server Is') && logged.push(text));
  await using opened = await openEventStoreEventLog({
    clock: REAL_TIME,
    url: node.address,
    timing: { ...TIMING, retryBudgetMs: 300 },
  });
  const log = logOutages(opened, {
    clock,
    log: { warn, info: (text: string) => logged.push(text) } as never,
  });
  const failBy = async (says: NotNow) => {
    node.faults.appends({ kind: 'not-now', says }, { times: 1_000 });
    for (let n = 0; n < 2; n += 1)
      await expect(log.append(aStream(), NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
    node.faults.clear();
  };
  for (let n = 0; n < 3; n += 1) {
    await failBy('Server Is Busy');
    await failBy('Server Is Not Ready');
  }
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await failBy('Server Is Busy');
  await log.append(aStream(), NO_STREAM, [anEvent()]);
  await clock.advance(60_000);
  await failBy('Server Is Busy');
  expect(logged).toEqual([
    expect.stringContaining('Busy'),
    expect.stringContaining('Not Ready'),
    'The event log takes appends again.',
    expect.stringContaining('Busy'),
  ]);
});

describe('a client', () => {
  // The outages above have the other texts of a server that cannot serve now.
  test('retries when the node knows no leader, and is not replaced', async ({ calls, log, node }) => {
    const stream = aStream();
    const says = 'No leader info available in response';
    node.faults.appends({ kind: 'not-now', says }, { stream, times: 3 });
    expect(await log.append(stream, NO_STREAM, [anEvent()])).toMatchObject({ version: 1 });
    expect(node.appendCalls()).toBe(calls);
  });

  test('waits for a response while the node answers others, and sends each append once', async ({ node }) => {
    await using slow = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: node.address,
      timing: { ...TIMING, answerWithinMs: 400 },
    });
    const streams = Array.from({ length: 12 }, () => aStream());
    for (const [place, stream] of streams.entries()) {
      node.faults.appends({ kind: 'delayed', delayMs: (place + 1) * 100 }, { stream });
      node.faults.appends({ kind: 'without-position' }, { stream });
    }
    await Promise.all(streams.map((stream) => slow.append(stream, NO_STREAM, [anEvent()])));
    expect(node.faults.pending()).toBe(streams.length);
    node.faults.clear();
  });

  test('is replaced if the node refuses everything for a second', async ({ calls, log, node }) => {
    const says = 'Server Is Not Ready';
    node.faults.appends({ kind: 'not-now', says }, { times: 1_000 });
    const appended = log.append(aStream(), NO_STREAM, [anEvent()]);
    await until(
      () => node.appendCalls(),
      (made) => made > calls,
    );
    node.faults.clear();
    expect(await appended).toMatchObject({ version: 1 });
  });

  test.for([
    ['appends', (log: EventLog) => log.append(aStream(), NO_STREAM, [anEvent()])],
    ['reads', (log: EventLog) => log.head()],
  ] as const)('whose connection is silent %s by another', async ([_, ask], { node }) => {
    await using path = await openCuttable(node.address.replace('esdb:', 'http:'));
    await using log = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: `esdb://127.0.0.1:${path.port}?tls=false`,
      timing: { retryBudgetMs: 5_000, answerWithinMs: 500, silenceMaxMs: 500 },
    });
    await log.append(aStream(), NO_STREAM, [anEvent()]);
    await log.head();
    path.strand();
    path.mend();
    // Keepalive would notice it after more than ten seconds.
    expect(await ask(log)).toBeTruthy();
  });

  test('is not replaced for all because one append times out', async ({ calls, log, node }) => {
    const stream = aStream();
    node.faults.appends({ kind: 'unanswered', stored: false }, { stream, times: 2 });
    let isOver = false;
    const unanswered = log.append(stream, NO_STREAM, [anEvent()]).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await log.append(aStream(), NO_STREAM, [anEvent()]);
      await delay(20);
    }
    expect(await unanswered).toMatchObject({ version: 1 });
    expect(node.appendCalls()).toBe(calls);
  });

  test('that is replaced fails each append with the name of its own stream', async ({ node }) => {
    await using hasty = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: node.address,
      timing: { ...TIMING, answerWithinMs: 600, retryBudgetMs: 700 },
    });
    const [silent, other] = [aStream('silent'), aStream('other')];
    for (const stream of [silent, other])
      node.faults.appends({ kind: 'unanswered', stored: false }, { stream, times: 5 });
    const failing = hasty.append(silent, NO_STREAM, [anEvent()]).catch(() => {});
    await until(
      () => node.faults.pending(),
      (left) => left < 10,
    );
    const failure = await hasty.append(other, NO_STREAM, [anEvent()]).catch((error: Error) => error);
    expect(String((failure as Error).cause)).not.toContain(silent);
    await failing;
    node.faults.clear();
  });

  test('that is silent is replaced, and no attempt starts with hardly any time left', async ({
    calls,
    node,
  }) => {
    await using impatient = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: node.address,
      timing: { ...TIMING, retryBudgetMs: 2_300 },
    });
    const stream = aStream();
    node.faults.appends({ kind: 'unanswered', stored: false }, { stream, times: 5 });
    await expect(impatient.append(stream, NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
    // One complete attempt, after which the client is replaced, and one with the remaining time, after which
    // it is not.
    expect([node.faults.pending(), node.appendCalls() - calls]).toEqual([3, 2]);
    node.faults.clear();
    await using hasty = await openEventStoreEventLog({
      clock: REAL_TIME,
      url: node.address,
      timing: { ...TIMING, retryBudgetMs: 2_150 },
    });
    node.faults.appends({ kind: 'unanswered', stored: false }, { stream, times: 5 });
    await expect(hasty.append(stream, NO_STREAM, [anEvent()])).rejects.toThrow(LogUnavailable);
    expect(node.faults.pending()).toBe(4);
    node.faults.clear();
  });
});
