import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { createCheckPerson } from './check-person.ts';
import type { PersonInLog } from './read-person.ts';

const ID = 7001 as UserId;
const READER: PersonInLog = { role: 'reader', email: null, isDeleted: false, version: 1 as Version };
const row = (role: string, version = 1) => ({ userId: ID, role, version: version as Version });

/** Counts the reads of the log, which has this person. */
const openCheck = (person: PersonInLog | undefined) => {
  const clock = createTestClock();
  const counted = { reads: 0 };
  const readPerson = async () => {
    counted.reads += 1;
    return person;
  };
  const check = createCheckPerson({ readPerson, clock, log: pino({ level: 'silent' }) });
  return { check, clock, counted };
};

test.for<[string, PersonInLog | undefined, string | undefined]>([
  ['a forged role', READER, 'reader'],
  ['a person whom the log does not have', undefined, undefined],
  ['a deleted person', { ...READER, isDeleted: true }, undefined],
])('%s costs one read of the log in five seconds', async ([, person, role], { expect }) => {
  const { check, clock, counted } = openCheck(person);
  for (let use = 0; use < 3; use += 1) expect((await check(row('administrator')))?.role).toBe(role);
  expect(counted.reads).toBe(1);
  await clock.advance(5_000);
  expect((await check(row('administrator')))?.role).toBe(role);
  expect(counted.reads).toBe(2);
});

test('a row that has changed is read at once, and a confirmed one again after a minute', async () => {
  const { check, clock, counted } = openCheck(READER);
  await check(row('reader'));
  await check(row('administrator'));
  expect(counted.reads).toBe(2);
  await clock.advance(59_000);
  expect((await check(row('reader')))?.role).toBe('reader');
  expect(counted.reads).toBe(2);
  await clock.advance(1_000);
  await check(row('reader'));
  expect(counted.reads).toBe(3);
});
