import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { requestRun } from '#process/operations/schedules.ts';
import { EPOCH_MS, PER_MS } from '#shared/id-time.ts';
import { by, type CommandSide, system } from '../../test/engines/command-side.ts';
import { test as base } from '../../test/engines/processes.ts';
import { reports } from '../../test/toy/reports.ts';
import { until } from '../../testing/until.ts';
import { findExtraConsequences } from './find-extra-consequences.ts';

const test = base.extend('sideOptions', { scope: 'file' }, { domain: reports });

const [NIGHTLY, MONDAY] = ['nightly-report', 'monday-reminder'];
const AT = new Date('2026-03-02T09:00:00.000Z');

const addRun = async ({ pool }: CommandSide, schedule: string, requestedBy: string | null = null) => {
  const causeId = randomUUID();
  await pool.query(
    `insert into process_manager.schedule_run (schedule, time_at, cause_id, is_noted, is_requested, requested_by)
     values ($1, $2, $3, true, $4::text is not null, $4)`,
    [schedule, AT, causeId, requestedBy],
  );
  return causeId;
};

type Forged = { readonly stream?: string; readonly causeId?: string; readonly metadata?: JsonObject };

/** A task as the process manager notes it, but for what is given; it is not executed. */
const addTask = async (
  { pool }: CommandSide,
  schedule: string,
  { stream = '', causeId = '', metadata = {} }: Forged,
): Promise<string> => {
  const noted = {
    ...{ at: AT.toISOString(), actor: `system:schedule-${schedule}`, client: null },
    ...{ request: causeId, correlation: causeId, causation: null, ...metadata },
  };
  const name = `schedule ${schedule}`;
  await pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, skipped_at)
     values ('run', $1, $2, $3, $4, now())`,
    [stream, name, causeId, JSON.stringify(noted)],
  );
  return `${stream} ${name}`;
};

const foundIn = async (side: CommandSide): Promise<readonly string[]> =>
  (await findExtraConsequences(side))
    .filter(({ table }) => table === 'process_manager.task')
    .map(({ key }) => key);

test('a task that no run of its schedule explains is found, and one with another author', async ({
  side,
}) => {
  const made = async () =>
    `task-${(await side.send({ type: 'AddTask', subject: 'x' } as Command as never, by(system))).id}`;
  await until(
    async () => (await side.pool.query('select from process_manager.schedule')).rowCount,
    (count) => count === 2,
  );
  const [nightly, monday] = [await addRun(side, NIGHTLY), await addRun(side, MONDAY)];
  const asked = await addRun(side, 'asked');
  const report = `report-${(AT.getTime() - EPOCH_MS) * PER_MS + 7}`;
  await addTask(side, MONDAY, { stream: await made(), causeId: monday });
  await addTask(side, NIGHTLY, { stream: report, causeId: nightly });
  // Runs are kept longer than their tasks are retried, but not for ever.
  const before = { at: '2026-02-01T09:00:00.000Z' };
  await addTask(side, MONDAY, { stream: await made(), causeId: randomUUID(), metadata: before });
  // A schedule that is declared no longer has no effect.
  await addTask(side, 'asked', { stream: await made(), causeId: asked });
  expect(await foundIn(side)).toEqual([]);

  const forged = [
    await addTask(side, MONDAY, { stream: await made(), causeId: randomUUID() }),
    await addTask(side, MONDAY, { stream: await made(), causeId: nightly }),
    await addTask(side, MONDAY, { stream: 'task-123', causeId: monday }),
    await addTask(side, MONDAY, { stream: report, causeId: monday }),
    await addTask(side, NIGHTLY, { stream: 'report-123', causeId: nightly }),
  ];
  for (const metadata of [
    { actor: 'user:1001' },
    { at: '2026-03-02T09:00:01.000Z' },
    { request: randomUUID() },
    { correlation: randomUUID() },
    { causation: randomUUID() },
    { client: 'console' },
    { reason: 'Run now, by user:1001' },
  ])
    forged.push(await addTask(side, MONDAY, { stream: await made(), causeId: monday, metadata }));
  expect((await foundIn(side)).toSorted()).toEqual(forged.toSorted());
});

test('nothing is found of a run that an operator wanted, while its commands wait', async ({ side }) => {
  await side.pool.query('truncate process_manager.task');
  const { id } = await side.send({ type: 'AddTask', subject: 'waits' } as Command as never, by(system));
  await side.pool.query(
    `create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
     create trigger refuse before insert on event_log.event for each row when (new.type = 'report.opened') execute function public.refuse()`,
  );
  expect(id).toBeGreaterThan(0);
  await requestRun(side.pool, { name: NIGHTLY, by: 'user:1001', aheadMs: 0 });
  await until(
    async () => (await side.pool.query('select from process_manager.task where attempts > 0')).rowCount,
    (count) => count === 1,
  );
  expect(await foundIn(side)).toEqual([]);
  await side.pool.query('drop function public.refuse cascade');
});
