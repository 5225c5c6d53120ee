import { expect } from 'vitest';
import type { ListedSchedule } from '#process/operations/schedules.ts';
import { callAt } from '../test/engines/call-line.ts';
import { registerUser } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/processes.ts';
import { reports } from '../test/toy/reports.ts';
import { until } from '../testing/until.ts';

const test = base
  .extend('sideOptions', { scope: 'file' }, { domain: reports })
  .extend('call', { scope: 'file' }, ({ database }) => (...args: readonly string[]) => {
    return callAt({ domain: reports, environment: { NODE_ENV: 'test', ...database.settings } }, args);
  })
  .extend('listed', { scope: 'file' }, ({ call }) => async () => {
    const { lines } = await call('schedules', '--json');
    return lines.map((line) => JSON.parse(line) as { [K in keyof ListedSchedule]: unknown });
  });

test('schedules are listed with their next run, and a run that an operator asked for', async ({
  call,
  listed,
  side,
}) => {
  expect(side.domain).toBe(reports);
  const [reminder, report] = await until(listed, (found) => found.length === 2);
  expect(reminder).toMatchObject({ name: 'monday-reminder', cron: '0 9 * * MON', timeZone: 'UTC' });
  expect(report).toMatchObject({ name: 'nightly-report', lastAt: null, state: null, commands: 0 });
  const next = report?.nextAt;
  expect((await call('schedules')).lines[1]).toBe(
    `nightly-report  30 2 * * * (Europe/Berlin), next ${next}, no run yet`,
  );
  expect(await call('schedules', 'run', 'nightly-report')).toMatchObject({
    exit: 0,
    output: 'nightly-report runs now: see “schedules” in a moment.',
  });
  const [, after] = await until(listed, ([, found]) => found?.state === 'done');
  expect(after).toMatchObject({ nextAt: next, lastAt: expect.any(String), commands: 1, failed: 0 });
  expect((await call('schedules')).lines[1]).toBe(
    `nightly-report  30 2 * * * (Europe/Berlin), next ${next}, last ${after?.lastAt}: done, 1 command, run now by system:command-line`,
  );
});

test('a run of an unknown schedule is refused, with the names of those that exist', async ({
  call,
  side,
}) => {
  expect(side.domain).toBe(reports);
  expect(await call('schedules', 'run', 'nightly\u001b[31m')).toMatchObject({
    exit: 1,
    complaint: expect.stringMatching(
      /^There is no schedule nightly\S*: use monday-reminder or nightly-report\.$/,
    ),
  });
  expect((await call('schedules', 'run')).exit).toBe(64);
});

test('a run names the user who wants it, who must exist', async ({ call, listed, side }) => {
  const id = await registerUser(side, { role: 'clerk' });
  expect(await call('schedules', 'run', 'nightly-report', '--by', '987654321')).toMatchObject({
    exit: 1,
    complaint: 'There is no user 987654321: give the id of the user who wants the run.',
  });
  expect((await call('schedules', 'run', 'nightly-report', '--by', 'ada')).exit).toBe(64);
  expect(await call('schedules', 'run', 'nightly-report', '--by', String(id))).toMatchObject({ exit: 0 });
  const ran = await until(listed, ([, found]) => found?.requestedBy === `user:${id}`);
  expect(ran[1]).toMatchObject({ name: 'nightly-report', requestedBy: `user:${id}` });
});
