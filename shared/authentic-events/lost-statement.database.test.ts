import { randomUUID } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Position } from '#kernel/base/brands.ts';
import { type EventLog, NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { type AuthenticPlace, ourEvent, test, thing } from '../../test/engines/authentic-log.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';

const LOOK_MS = 60_000;
const REFUSED = 'event.not_authentic';

const appendOne = (log: EventLog) => log.append(thing(), NO_STREAM, [ourEvent()]);
const typesOf = async (log: EventLog): Promise<readonly string[]> =>
  ((await log.page?.(START, 100)) ?? []).map(({ type }) => type);

/** The positions after which events need MACs, by the row. */
const fromIn = async ({ pool }: AuthenticPlace): Promise<readonly Position[] | undefined> => {
  const { rows } = await pool.query<{ statement: string }>('select statement from public.authentic_events');
  return rows[0] && JSON.parse(rows[0].statement).epochs.map(({ from }: { from: Position }) => from);
};

test('a process without the file does not set back since when events are authentic', async ({ place }) => {
  {
    await using opened = await place.open();
    await appendOne(opened.eventLog);
  }
  await place.pool.query('delete from public.authentic_events');
  await place.tamper('update event_log.event set mac = null');
  {
    await using other = await place.open({ auditDir: `${place.auditDir}-other` });
    expect(await typesOf(other.eventLog)).toEqual(['thing.noted']);
  }
  expect(place.lines.warnings.map(([, message]) => message)).toEqual([
    expect.stringContaining('an upgrade from an earlier release begins'),
  ]);
  expect(await fromIn(place)).toEqual([]);
  await using anew = await place.open();
  expect(await typesOf(anew.eventLog)).toEqual([REFUSED]);
  expect(await fromIn(place)).toEqual([0]);
});

test.for<readonly [name: string, statement: string]>([
  ['removed', 'delete from public.authentic_events'],
  ['changed', `update public.authentic_events set statement = replace(statement, '"from":0', '"from":9')`],
])('a process that runs writes the row again once it is %s', async ([, statement], { place }) => {
  const clock = createTestClock();
  await using opened = await place.open({ clock });
  await appendOne(opened.eventLog);
  await clock.pass(LOOK_MS);
  expect(place.lines.errors).toEqual([]);
  await place.pool.query(statement);
  await clock.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    (from) => from?.[0] === 0,
  );
  expect(place.lines.errors.map(([, message]) => message)).toEqual([
    expect.stringContaining('It is written again.'),
  ]);
});

test('a process that runs takes back what one without the file has said', async ({ place }) => {
  const clock = createTestClock();
  await using opened = await place.open({ clock });
  await appendOne(opened.eventLog);
  await place.pool.query('delete from public.authentic_events');
  await place.tamper('update event_log.event set mac = null');
  await using _other = await place.open({ auditDir: `${place.auditDir}-other` });
  expect(await fromIn(place)).toEqual([]);
  await clock.pass(LOOK_MS);
  await until(
    () => fromIn(place),
    (from) => from?.[0] === 0,
  );
});

test('a start removes what a process has left that was killed while it wrote the file', async ({ place }) => {
  {
    await using _first = await place.open();
  }
  const names = await readdir(place.auditDir);
  const left = join(place.auditDir, `${names[0]}.${randomUUID()}`);
  await writeFile(left, '{');
  await utimes(left, new Date(0), new Date(0));
  {
    await using _reader = await place.open({ isReader: true });
    expect(await readdir(place.auditDir)).toHaveLength(2);
  }
  await using _next = await place.open();
  expect(await readdir(place.auditDir)).toEqual(names);
});
