import { expect, test } from 'vitest';
import { waitSeconds, waitText } from './sign-in-limits.ts';
import { problemsIn } from './sign-up-form.ts';

test.each([
  [0, 1, '1 second'],
  [900, 1, '1 second'],
  [1_100, 2, '2 seconds'],
  [60_000, 60, '60 seconds'],
  [61_000, 61, '2 minutes'],
])('%d ms are %d for programs and %s for people', (ms, seconds, text) => {
  expect(waitSeconds(ms)).toBe(seconds);
  expect(waitText(ms)).toBe(text);
});

const good = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

test.each<[string, Partial<typeof good>, string[]]>([
  ['nothing', {}, []],
  ['no name', { name: '' }, ['name']],
  ['a name too long', { name: 'x'.repeat(101) }, ['name']],
  ['an address without @', { email: 'ada' }, ['email']],
  ['an address with a line break', { email: 'ada@example.com\nBcc: x@y.z' }, ['email']],
  ['a short password', { password: '123456789' }, ['password']],
  ['nine characters of two units each', { password: '😀'.repeat(9) }, ['password']],
  ['a password of one letter', { password: 'aaaaaaaaaaaa' }, ['password']],
  ['the address as password', { password: 'ADA@example.com' }, ['password']],
  ['a known password', { password: 'Password123' }, ['password']],
  ['everything', { name: ' ', email: '', password: '' }, ['name', 'email', 'password']],
])('a wrong %s is reported', async (_what, change, expected) =>
  expect(Object.keys(await problemsIn({ ...good, ...change }))).toEqual(expected),
);

const lovelace = { name: 'Ada Lovelace', email: 'countess@analytical.example' };

test.each([
  ['Password123!'],
  ['qwerty123456'],
  ['P@ssw0rd1234'],
  ['Summer2026!'],
  ['1q2w3e4r5t6y'],
  ['abcdefghijkl'],
  ['letmeinletmein'],
  ['Ada Lovelace 1815'],
  ['adalovelace12'],
  ['countess1815'],
  ['analytical1'],
  ['x9'.repeat(100)],
])('"%s" is easy to guess, and the page says what to do', async (password) => {
  expect((await problemsIn({ ...lovelace, password })).password).toMatch(/easy to guess.*longer/);
});

test.each([
  'correct horse battery staple',
  'three blue teapots sing',
  'w7#kQp2!xz',
  'пять зелёных слонов',
  '长城上的月光很亮很亮',
])('"%s" is accepted: there are no rules of composition', async (password) =>
  expect(await problemsIn({ ...lovelace, password })).toEqual({}),
);
