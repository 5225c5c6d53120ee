import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { fieldGiven } from './field-given.ts';
import { sketchAsked, sketchGiven } from './sketch-given.ts';

test.each([
  ['title', { name: 'title', type: 'line' }],
  ['total:integer:max=1000,optional', { name: 'total', type: 'integer', max: 1_000, options: ['optional'] }],
  [
    'size:choice:words=small|large,initial=small',
    { name: 'size', type: 'choice', words: ['small', 'large'], initial: 'small' },
  ],
  ['urgent:flag:initial=false', { name: 'urgent', type: 'flag', initial: false }],
  ['about:ref:of=article', { name: 'about', type: 'ref', of: 'article' }],
])('the field %s is described', (text, field) => {
  expect(fieldGiven(text)).toEqual(field);
});

test.each([
  ['title:text', 'there is no type “text” of fields, in “title:text”: use line, prose, markdown'],
  ['title:line:wide', '“wide” is no option of the field title: use max=…, optional, unique'],
  ['Title:line', '"Title" cannot be the name of a field'],
  ['due:date:unique', 'due is of the type date, which cannot be unique: it can be optional, filter'],
  ['due:date:max=3', 'due is of the type date, which has no max: leave it out'],
  ['size:choice:words=small', 'size needs at least two words to choose from'],
  ['total:integer:max=many', 'The limits of total are no whole numbers'],
  ['about:ref', 'about is a reference: say to which aggregate'],
  ['__proto__:line', '"__proto__" cannot be the name of a field'],
  ['total:constructor', 'there is no type “constructor” of fields'],
])('the field %s is refused', (text, says) => {
  expect(() => fieldGiven(text)).toThrow(says);
});

test('the answers of a user describe an aggregate, and a wrong one is asked again', async () => {
  const answers = [
    'number:line:unique',
    'total:money',
    'total:integer',
    '',
    'draft, sent',
    'issuer',
    'reader',
  ];
  const complaints: string[] = [];
  const sketch = await sketchAsked('invoice', {
    domain: publishing,
    complain: (line) => complaints.push(line),
    ask: async (_question, suggested) => answers.shift() ?? suggested,
  });
  expect(complaints).toEqual([expect.stringContaining('there is no type “money”')]);
  expect(sketch).toEqual({
    name: 'invoice',
    owner: 'issuer',
    fields: [
      { name: 'number', type: 'line', options: ['unique'] },
      { name: 'total', type: 'integer' },
    ],
    states: [{ name: 'draft' }, { name: 'sent' }],
    rights: { read: { reader: true, signedIn: ['own'] }, write: { signedIn: ['own'] } },
  });
});

test('without options, nothing is described', () => {
  const given = { positionals: ['invoice'], flags: new Set<string>(), values: new Map() };
  expect(sketchGiven('invoice', given)).toBeUndefined();
});
