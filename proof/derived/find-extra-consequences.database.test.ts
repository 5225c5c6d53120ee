import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref } from '#kernel/declare/fields.ts';
import { by, type CommandSide, system } from '../../test/engines/command-side.ts';
import { test as base } from '../../test/engines/processes.ts';
import { findExtraConsequences } from './find-extra-consequences.ts';

const desk = domain({ name: 'alarms', roles: ['clerk'] });
const rights = { read: { signedIn: true }, write: { signedIn: true } } as const;
const clock = desk.aggregate('clock', {
  fields: { name: line(20) },
  events: { made: { creates: ['name'] }, stopped: { ends: true } },
  commands: { make: { emits: 'made' }, stop: { emits: 'stopped' } },
  rights,
});
const alarm = desk.aggregate('alarm', {
  fields: { timer: ref(clock), backup: ref(clock).optional() },
  events: { set: { creates: ['timer', 'backup'] }, ended: { ends: true } },
  commands: { set: { emits: 'set' }, end: { emits: 'ended' } },
  rights,
  reactions: { timer: { stopped: { run: 'end' } }, backup: { stopped: { run: 'end' } } },
});
const test = base.extend('sideOptions', { scope: 'file' }, { domain: assemble(desk, [clock, alarm]) });

const send = async (side: CommandSide, command: object): Promise<number> =>
  (await side.send(command as never, by(system))).id;

/** A task that is not executed. */
const addTask = (
  { pool }: CommandSide,
  task: { stream: string; name: string; id: string; position: number | null },
) =>
  pool.query(
    `insert into process_manager.task (task, stream, name, cause_id, cause_metadata, cause_position, skipped_at)
     values ('run', $1, $2, $3, '{}', $4, now())`,
    [task.stream, task.name, task.id, task.position],
  );

test('a task is explained by a reference that led to its cause, or by a schedule', async ({ side }) => {
  const stopped = await send(side, { type: 'MakeClock', name: 'stops' });
  const other = await send(side, { type: 'MakeClock', name: 'runs' });
  const alarms = [
    await send(side, { type: 'SetAlarm', timerId: stopped, backupId: null }),
    await send(side, { type: 'SetAlarm', timerId: other, backupId: stopped }),
  ].map((id) => `alarm-${id}`);
  await send(side, { type: 'StopClock', clockId: stopped });
  const events = (await Array.fromAsync(side.eventLog.read(`clock-${stopped}` as StreamName))).flat();
  const { id, position, stream, type, version } = events.at(-1) ?? expect.fail();
  await side.pool.query(
    'insert into event_index.event (position, id, stream, version, type) values ($1, $2, $3, $4, $5)',
    [position, id, stream, version, type],
  );
  const [first, second] = alarms as [string, string];
  await addTask(side, { stream: first, name: 'schedule nightly', id: randomUUID(), position: null });
  for (const [of, name] of [
    [first, 'timer clock.stopped'],
    [first, 'backup clock.stopped'],
    [second, 'timer clock.stopped'],
    [second, 'backup clock.stopped'],
  ] as const)
    await addTask(side, { stream: of, name, id, position });
  const found = await findExtraConsequences(side);
  expect(
    found
      .filter(({ table }) => table === 'process_manager.task')
      .map(({ key }) => key)
      .toSorted(),
  ).toEqual([`${first} backup clock.stopped`, `${second} timer clock.stopped`].toSorted());
});
