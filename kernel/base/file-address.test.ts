import { expect, test } from 'vitest';
import { factsInQuery, factsOfFile, queryOfFile, safeFileName } from './file-address.ts';

const PATH = '/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.file';
const FACTS = { type: 'application/pdf', bytes: 1_234, sha256: 'a'.repeat(64), name: 'Größe 1 (café).pdf' };

test.each([FACTS, { ...FACTS, name: null }, { ...FACTS, name: "it's & so=on+100%.pdf" }])(
  'an address states the facts of a file: %o',
  (facts) => {
    const address = `${PATH}?${queryOfFile(facts)}`;
    expect(factsOfFile(address)).toEqual(facts);
    expect(address).toMatch(/^\/uploads\/[\w.-]+\?[\w.~%&=!()*-]+$/);
  },
);

test.each([
  ['a picture', PATH.replace('.file', '.png')],
  ['another path', `/articles/1?${queryOfFile(FACTS)}`],
  ['no facts', PATH],
  ['an order of its own', `${PATH}?${queryOfFile(FACTS).split('&').toReversed().join('&')}`],
  ['more than the facts', `${PATH}?${queryOfFile(FACTS)}&more=1`],
  ['a type that is none', `${PATH}?${queryOfFile({ ...FACTS, type: 'pdf' })}`],
  ['no bytes', `${PATH}?${queryOfFile({ ...FACTS, bytes: 0 })}`],
  ['half a digest', `${PATH}?${queryOfFile({ ...FACTS, sha256: 'a'.repeat(32) })}`],
  ['a name with a path', `${PATH}?${queryOfFile({ ...FACTS, name: '../x.pdf' })}`],
])('an address with %s states none', (_, address) => expect(factsOfFile(address)).toBeUndefined());

test('a query with more parameters has the facts, and one with two names has none', () => {
  const query = { type: 'text/csv', bytes: '5', sha256: 'b'.repeat(64), until: '1' };
  expect(factsInQuery(query)).toEqual({ type: 'text/csv', bytes: 5, sha256: 'b'.repeat(64), name: null });
  expect(factsInQuery({ ...query, name: ['a', 'b'] })).toBeUndefined();
});

test.each([
  ['receipt.pdf', 'receipt.pdf'],
  ['C:\\Users\\ada\\receipt.pdf', 'receipt.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['  two   words .pdf ', 'two words .pdf'],
  ['a\r\nSet-Cookie: b.pdf', 'a__Set-Cookie_ b.pdf'],
  ['invoice\u202efdp.exe', 'invoice_fdp.exe'],
  ['.htaccess', 'htaccess'],
  ['a"b<c>.pdf', 'a_b_c_.pdf'],
  ['\u0065\u0301.pdf', '\u00e9.pdf'],
  ['می‌خواهم.pdf', 'می‌خواهم.pdf'],
  ['name.pdf. . ', 'name.pdf'],
  ['\ud800.pdf', '\ufffd.pdf'],
])('the name %j becomes %j', (given, safe) => expect(safeFileName(given)).toBe(safe));

test.each(['', '...', '/', 'a/', '___', '\u0000'])('of %j nothing is left', (given) =>
  expect(safeFileName(given)).toBeUndefined(),
);

test('a long name keeps its ending, and a safe name stays', () => {
  const long = safeFileName(`${'😀'.repeat(400)}.pdf`) ?? '';
  expect([...long]).toHaveLength(150);
  expect(long).toMatch(/😀\.pdf$/u);
  for (const name of [long, safeFileName(`${'a. '.repeat(100)}`) ?? ''])
    expect(safeFileName(name)).toBe(name);
});
