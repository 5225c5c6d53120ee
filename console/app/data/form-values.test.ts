import { expect, test } from 'vitest';
import type { FormFieldFacts } from '../../domain-facts.ts';
import { bodyOf, changesOf, errorsOf, mergeChanges, overwrites, rawOfAll, restOf } from './form-values.ts';

const field = (
  wire: string,
  type: FormFieldFacts['type'],
  more: Partial<FormFieldFacts> = {},
): FormFieldFacts => ({
  name: wire,
  wire,
  title: wire,
  type,
  isRequired: true,
  isNullable: false,
  schema: {},
  ...more,
});

const FIELDS = [
  field('title', 'text'),
  field('note', 'text', { isRequired: false, isNullable: true }),
  field('size', 'integer'),
  field('words', 'set', { isRequired: false, initial: [] }),
  field('open', 'boolean', { isRequired: false, initial: true }),
  field('ownerId', 'ref', { name: 'owner', label: 'name', isRequired: false }),
];

test('a new form has the defaults, and sends the entered values', () => {
  const raw = rawOfAll(FIELDS, undefined);
  expect(raw).toEqual({ title: '', note: '', size: '', words: '', open: true, ownerId: '' });
  expect(bodyOf(FIELDS, { ...raw, title: 'One', size: '3', words: 'a\n b \n', ownerId: '7' })).toEqual({
    title: 'One',
    note: null,
    size: 3,
    words: ['a', 'b'],
    open: true,
    ownerId: 7,
  });
});

test('an optional boolean has three states', () => {
  const fields = [field('late', 'boolean', { isRequired: false, isNullable: true })];
  const sent = [{}, { late: null }, { late: true }, { late: false }].map((item) =>
    bodyOf(fields, rawOfAll(fields, item)),
  );
  expect(sent).toEqual([{ late: null }, { late: null }, { late: true }, { late: false }]);
});

test('a missing required value is left to the server to refuse', () => {
  expect(bodyOf(FIELDS, rawOfAll(FIELDS, undefined))).toEqual({
    title: '',
    note: null,
    words: [],
    open: true,
  });
});

const ITEM = { title: 'One', note: 'Two', size: 3, words: ['a'], open: false, owner: { id: 7, name: 'Ada' } };

test('a change sends only changed fields', () => {
  const before = rawOfAll(FIELDS, ITEM);
  expect(before).toEqual({ title: 'One', note: 'Two', size: '3', words: 'a', open: false, ownerId: '7' });
  expect(changesOf(FIELDS, before, before)).toEqual({});
  expect(changesOf(FIELDS, before, { ...before, title: '', note: '', size: '4' })).toEqual({
    title: '',
    note: null,
    size: 4,
  });
});

test('changes of others only are taken over, and changes of both are conflicts', () => {
  const before = rawOfAll(FIELDS, ITEM);
  const mine = { ...before, title: 'Mine', note: 'Same' };
  const theirs = { ...before, title: 'Theirs', note: 'Same', size: '9' };
  expect(mergeChanges(FIELDS, { before, mine, theirs })).toEqual({
    raw: { ...before, title: 'Mine', note: 'Same', size: '9' },
    conflicts: ['title'],
  });
});

test('a conflict stays until both agree, whatever others change meanwhile', () => {
  const before = rawOfAll(FIELDS, { ...ITEM, title: 'Theirs' });
  const mine = { ...before, title: 'Mine' };
  expect(mergeChanges(FIELDS, { before, mine, theirs: { ...before, words: 'b' } }, ['title'])).toEqual({
    raw: { ...mine, words: 'b' },
    conflicts: ['title'],
  });
  expect(
    mergeChanges(FIELDS, { before, mine, theirs: { ...before, title: 'Mine' } }, ['title']).conflicts,
  ).toEqual([]);
});

test('an invalid number is sent as it is, and values of a set may contain commas', () => {
  const before = rawOfAll(FIELDS, ITEM);
  expect(changesOf(FIELDS, before, { ...before, ownerId: 'Ada', words: 'a, b\nc' })).toEqual({
    ownerId: 'Ada',
    words: ['a, b', 'c'],
  });
});

test('errors of fields are shown at the field, and the others at the form', () => {
  const problem = {
    status: 422,
    code: 'invalid_request',
    title: 'Some fields are invalid.',
    errors: [
      { pointer: '/title', detail: 'Is missing.' },
      { pointer: '/words/0', detail: 'Must be a word.' },
      { pointer: '/words/1', detail: 'Must be one, too.' },
    ],
  };
  const errors = errorsOf(FIELDS, problem);
  expect(errors).toEqual({ title: 'Is missing.', words: 'Must be a word. Must be one, too.' });
  expect(restOf(problem, errors)).toBeUndefined();
  const other = {
    ...problem,
    errors: [...problem.errors, { pointer: '/other', detail: 'There is no such field.' }],
  };
  expect(restOf(other, errorsOf(FIELDS, other))?.errors).toEqual([
    { pointer: '/other', detail: 'There is no such field.' },
  ]);
  expect(restOf({ status: 403, code: 'forbidden', title: 'You may not.' }, {})?.code).toBe('forbidden');
});

test('saving overwrites only where the user keeps another value than the current one', () => {
  const theirs = { title: 'Theirs', note: 'n' };
  expect(overwrites(['title'], { title: 'Mine', note: 'n' }, theirs)).toBe(true);
  expect(overwrites(['title'], { title: 'Theirs', note: 'n' }, theirs)).toBe(false);
  expect(overwrites([], { title: 'Mine', note: 'n' }, theirs)).toBe(false);
});
