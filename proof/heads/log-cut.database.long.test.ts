import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { guardHistory } from '#shared/event-log/guard-history.ts';
import { anEvent, aStream } from '../../test/contracts/event-log-engine.ts';
import { freshTest } from '../../test/engines/audited-log.ts';
import { until } from '../../testing/until.ts';
import { LogWasCut } from './reconcile.ts';
import { createPublisher, startHeads } from './service.ts';

const test = freshTest.extend('fill', { scope: 'file' }, () => async (audited) => {
  await audited.append(3);
  await audited.prove();
  await audited.append(2);
  await audited.prove();
});

const CUT = [
  'delete from event_log.event where position > 3',
  'delete from audit.head where count > 3',
  'delete from audit.block where count > 3',
  'update public.follower_checkpoint set position = 3',
];

test('a process whose heads cover events that the log has lost stops like one that has seen them, and so do all others', async ({
  audited,
}) => {
  for (const statement of CUT) await audited.tamper(statement);
  const told: string[] = [];
  const guard = () =>
    guardHistory(audited.eventLog, {
      log: { error: (_: unknown, text?: string) => told.push(text ?? '') } as never,
      clock: audited.clock,
    });
  await using eventLog = guard();
  await using other = guard();
  await using _heads = await startHeads({
    ...audited,
    eventLog,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    everyMs: 100,
  });
  await until(
    () => told,
    (lines) => lines.filter((line) => line.includes('docs/runbooks.md')).length === 2,
  );
  for (const each of [eventLog, other]) {
    await expect(each.append(aStream(), NO_STREAM, [anEvent()])).rejects.toMatchObject({
      code: 'log_went_back',
    });
    await expect(each.demandHistory()).rejects.toMatchObject({ code: 'log_went_back' });
  }
  expect(await audited.eventLog.head()).toBe(3);
  expect(await audited.eventLog.standing?.()).toMatchObject({ isMarkedLost: true });
});

test('a chain that differs from a signed head stops the process as well', async ({ audited }) => {
  for (const statement of CUT) await audited.tamper(statement);
  await audited.append(3);
  {
    await using _chain = await audited.startChain();
    await audited.untilChained();
  }
  await expect(createPublisher(audited).publish()).rejects.toThrow(LogWasCut);
});
