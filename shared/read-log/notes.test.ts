import { expect, test } from 'vitest';
import { audited } from '../../test/toy/audited.ts';
import { noteOf, noting, OTHER } from './noted.ts';
import { Notes } from './notes.ts';

const kindNamed = (name: string) => {
  const kind = audited.kinds[name];
  if (kind === undefined) throw new RangeError(`There is no ${name}`);
  return kind;
};

const notesOf = (isOfAuditor: boolean): Notes => {
  const notes = new Notes(() => isOfAuditor);
  noting(notes, () => {
    noteOf(kindNamed('file'))?.(7, ['title', 'secret']);
    noteOf(kindNamed('bill'))?.(8, ['amount', 'note']);
    noteOf(kindNamed('bill'))?.(9, ['note']);
    noteOf(kindNamed('user'))?.(1, ['email']);
    notes.add(OTHER, undefined, []);
  });
  return notes;
};

test('everything that an auditor reads is noted, whatever the aggregate says', () => {
  expect(notesOf(true).take()).toMatchObject([
    { kind: { name: 'file' }, items: [7], fields: ['secret', 'title'] },
    { kind: { name: 'bill' }, items: [8], fields: ['amount', 'note'] },
    { kind: { name: 'bill' }, items: [9], fields: ['note'] },
    { kind: { name: 'user' }, items: [1], fields: ['email'] },
    { kind: { name: 'other-data' }, items: [], fields: [] },
  ]);
});

test('of others, only what the aggregate says', () => {
  expect(notesOf(false).take()).toMatchObject([{ kind: { name: 'bill' }, items: [8], fields: ['amount'] }]);
});

test('an interface that records nothing shows nothing to anybody, because auditors may ask', () => {
  expect(() => noteOf(kindNamed('file'))?.(7, ['title'])).toThrow('is of a request that records none');
});
