import { expect, test } from 'vitest';
import { noting } from '#shared/read-log/noted.ts';
import { Notes } from '#shared/read-log/notes.ts';
import { clinic } from '../test/toy/clinic.ts';
import { noteTables, ownRoutes } from './own-routes.ts';

test('routes that return a promise, or nothing, are refused in a sentence', () => {
  for (const routes of [async () => () => undefined, () => undefined])
    expect(() => ownRoutes(routes as never, { before: [] } as never)).toThrow(
      '`routes` of start returns no router',
    );
});

test.each([
  ['select name from read_model.patients', ['patient']],
  ['select text from read_model."patient_notes" n', ['patient']],
  ['select days from read_model.stay', ['patient']],
  ['select data from event_log.event', ['patient', 'prescription']],
  ['select name from read_model.ward', []],
])('%s is a read of %j', (statement, kinds) => {
  const notes = new Notes();
  noting(notes, () => noteTables(clinic)(statement));
  expect(
    notes
      .take()
      .map(({ kind }) => kind.name)
      .toSorted(),
  ).toEqual(kinds);
});
