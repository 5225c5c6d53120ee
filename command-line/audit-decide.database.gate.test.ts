import { test as base, expect } from 'vitest';
import { START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { createBareEvents } from '../test/engines/bare-events.ts';
import { callLine } from '../test/engines/call-line.ts';
import type { CommandDatabase } from '../test/engines/command-side.ts';

const EVENTS = 5_000;
const REFUSED = 'event.not_authentic';

/** The types of the log, as a process reads them that has just started. */
const typesAnew = async (database: CommandDatabase): Promise<Readonly<Record<string, number>>> => {
  await using side = await database.open();
  const counts: Record<string, number> = {};
  for await (const page of readBetween(side.eventLog, { after: START, upTo: await side.eventLog.head() }))
    for (const { type } of page) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
};

const tamper = async (database: CommandDatabase, statement: string): Promise<void> => {
  await using side = await database.open();
  await side.pool.query(
    `alter table event_log.event disable trigger append_only; ${statement}; alter table event_log.event enable trigger append_only`,
  );
};

/** A log to which an earlier release has appended thousands of events after the upgrade. */
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('database', { scope: 'file' }, async ({}, { onCleanup }) => {
    const database = await createBareEvents(EVENTS);
    onCleanup(() => database[Symbol.asyncDispose]());
    return database;
  });

test('thousands of events are accepted at once, and none with them', async ({ database }) => {
  expect(await typesAnew(database)).toMatchObject({ [REFUSED]: EVENTS, 'article.drafted': 1 });
  const accepted = await callLine(database.settings, ['audit', 'accept', '--all', '--yes']);
  expect(accepted, accepted.complaint).toMatchObject({ exit: 0 });
  expect(accepted.output).toContain('… and 4,900 more, 5,000 events in all.');
  expect(accepted.lines.length).toBeLessThan(110);
  expect(await typesAnew(database)).toMatchObject({ 'article.drafted': EVENTS + 1 });
  expect(await typesAnew(database)).not.toHaveProperty([REFUSED]);
  await using side = await database.open();
  const { rows } = await side.pool.query('select length(statement) as length from public.authentic_events');
  expect(rows[0].length).toBeLessThan(500);
  expect((await callLine(database.settings, ['audit', 'accept', '--all', '--yes'])).output).toContain(
    'No such event lacks the right MAC.',
  );
});

test('an accepted event that is changed does not count', async ({ database }) => {
  await tamper(
    database,
    `update event_log.event set data = replace(data::text, 'On engines', 'Forged')::json where stream = 'article-8000007'`,
  );
  expect(await typesAnew(database)).toMatchObject({ [REFUSED]: 1, 'article.drafted': EVENTS });
});

test('nobody adds an event to those that were accepted', async ({ database }) => {
  await using side = await database.open();
  await side.pool.query(
    `update public.decided_events set digests = digests || decode(repeat('ff', 32), 'hex')`,
  );
  expect(await typesAnew(database)).toMatchObject({ [REFUSED]: EVENTS, 'article.drafted': 1 });
  const again = await callLine(database.settings, ['audit', 'accept', '--all', '--yes']);
  expect(again, again.complaint).toMatchObject({ exit: 0 });
  expect(await typesAnew(database)).toMatchObject({ 'article.drafted': EVENTS + 1 });
});
