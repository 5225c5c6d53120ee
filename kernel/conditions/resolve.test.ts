import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { date, flag, instant, integer, line, list, ref, states } from '../declare/fields.ts';
import { resolve } from './expression.ts';
import { holdsOf } from './holds.ts';

const base = domain({ name: 'expenses', roles: ['member'] });
const { aggregate, user } = base;

const team = aggregate('team', {
  fields: {
    name: line(10),
    lead: ref(user).optional(),
    budget: integer(0, 9).optional(),
    used: integer(0, 9).optional(),
    members: list({ person: ref(user), part: line(10) }, { max: 3 }),
  },
  events: { formed: { creates: ['name', 'lead', 'budget', 'used'] }, joined: { adds: 'members' } },
  facts: { spent: { used: { min: { field: 'budget' } } } },
  commands: { form: { emits: 'formed' }, join: { emits: 'joined' } },
  rights: { read: { signedIn: true } },
});
const claimWith = (read: unknown, facts: object = {}) =>
  aggregate('claim', {
    owner: 'author',
    fields: {
      author: ref(user),
      team: ref(team).optional(),
      amount: integer(0, 99),
      title: line(10).optional(),
      urgent: flag().default(false),
      since: instant().optional(),
      until: instant().optional(),
      most: integer(0, 99).optional(),
      day: date().optional(),
      status: states('draft', 'sent'),
    },
    events: {
      drafted: { creates: ['team', 'amount', 'title', 'urgent', 'since', 'until', 'most', 'day'] },
      sent: { sets: { status: 'sent' } },
    },
    facts: facts as never,
    commands: { draft: { emits: 'drafted' }, send: { emits: 'sent' } },
    rights: { read: { member: read } as never, write: { member: 'own' } },
  });
const expenses = (read: unknown, facts: object = {}) => assemble(base, [team, claimWith(read, facts)]);
const known = expenses(true);
const { claim } = known.kinds;
if (claim === undefined) throw new Error('there is no claim');
const isTrueOf = (condition: unknown, state: object, callerId = 7): boolean =>
  holdsOf(resolve(known, claim, condition))({ ...state }, callerId, () => ({
    id: 7,
    role: 'member',
    lead: 7,
    budget: 3,
    used: 3,
    members: [],
  }));

test('a condition with a minimum and a maximum means both', () => {
  const between = { amount: { min: 10, max: 20 } };
  expect([9, 10, 20, 21].map((amount) => isTrueOf(between, { amount }))).toEqual([false, true, true, false]);
});

test('a minimum can exclude values above it', () => {
  const most = { amount: { min: 10, not: [12, 15] } };
  expect([9, 10, 12, 15, 16].map((amount) => isTrueOf(most, { amount }))).toEqual([
    false,
    true,
    false,
    false,
    true,
  ]);
});

test('a reference to the caller can have more conditions, which hold too', () => {
  expect(isTrueOf({ author: { caller: true, role: 'admin' } }, { author: 7 })).toBe(false);
  expect(isTrueOf({ author: { caller: true, role: 'member' } }, { author: 7 })).toBe(true);
  expect(isTrueOf({ author: { caller: false, role: 'member' } }, { author: 7 })).toBe(false);
});

test.each([
  '2026-02-01',
  '2026-02-01T00:00:00Z',
  '2026-02-01t01:00:00.000+01:00',
  '2026-02-01T00:00:00.000000Z',
])('the instant %s is compared as events have it', (since) => {
  const at = { since: '2026-02-01T00:00:00.000Z' };
  for (const condition of [{ since }, { since: { min: since } }, { since: { max: since } }])
    expect([condition, isTrueOf(condition, at)]).toEqual([condition, true]);
});

test('a field is compared with another one; null is neither equal to anything nor beside it', () => {
  const least = { amount: { min: { field: 'most' } } };
  const pairs = [
    { amount: 1, most: 2 },
    { amount: 2, most: 2 },
    { amount: 3, most: 2 },
    { amount: 3, most: null },
  ];
  const held = (condition: unknown) => pairs.map((state) => isTrueOf(condition, state));
  expect(held(least)).toEqual([false, true, true, false]);
  expect(held({ amount: { max: { field: 'most' } } })).toEqual([true, true, false, false]);
  expect(held({ amount: { field: 'most' } })).toEqual([false, true, false, false]);
  expect(held({ amount: { not: { field: 'most' } } })).toEqual([true, false, true, true]);
  expect(held({ amount: { min: 2, max: { field: 'most' } } })).toEqual([false, true, false, false]);
  expect(isTrueOf({ most: { field: 'most' } }, { most: null })).toBe(false);
  expect(
    isTrueOf(
      { since: { min: { field: 'until' } } },
      { since: '2026-02-01T00:00:00.001Z', until: '2026-02-01T00:00:00.000Z' },
    ),
  ).toBe(true);
});

test('a condition on the target of a reference compares with the fields of the aggregate that has it', () => {
  expect(isTrueOf({ team: { lead: { field: 'author' } } }, { team: 1, author: 7 })).toBe(true);
  expect(isTrueOf({ team: { lead: { field: 'author' } } }, { team: 1, author: 8 })).toBe(false);
  // A fact is a condition of its own aggregate.
  expect(isTrueOf({ team: 'spent' }, { team: 1, amount: 9, budget: 0 })).toBe(true);
});

test('texts are in the order of their code points', () => {
  const titles = ['A', 'B', 'a', 'aa', '\u00e9', '\uff5a', '\u{1f600}', '\u{1f601}'];
  for (const min of titles)
    expect(titles.filter((title) => isTrueOf({ title: { min } }, { title }))).toEqual(
      titles.slice(titles.indexOf(min)),
    );
});

test.each([
  ['a word beside `some`', { team: { members: { some: {}, every: {} } } }, /^team: .*members.*every/],
  ['a list without `some`', { team: { members: true } }, /^team: .*members.*some/],
  ['a word that no comparison has', { amount: { min: 1, most: 9 } }, /^claim: .*amount.*most/],
  ['a comparison without words', { amount: {} }, /^claim: .*amount/],
  ['a bound without a value', { amount: { min: undefined } }, /^claim: .*amount.*min/],
  ['a value that is missing', { amount: undefined }, /^claim: .*amount/],
  ['a field that is not declared', { amonut: { min: 1 } }, /^claim: .*amonut/],
  ['a value of a fact', { draft: 'yes' }, /^claim: .*draft/],
  ['a word that the choice lacks', { status: 'gone' }, /^claim: .*status.*gone.*draft, sent/],
  [
    'an excluded word that the choice lacks',
    { status: { not: ['draft', 'gone'] } },
    /^claim: .*status.*gone/,
  ],
  ['a number that is not whole', { amount: 1.5 }, /^claim: .*amount.*1\.5/],
  ['a number beyond the field', { amount: 100 }, /^claim: .*amount.*100/],
  ['a bound that is not whole', { amount: { min: 1.5 } }, /^claim: .*amount.*1\.5.*whole/],
  ['an endless bound', { amount: { max: Number.POSITIVE_INFINITY } }, /^claim: .*amount.*whole/],
  ['a text that the field never has', { title: 'longer than ten' }, /^claim: .*title.*longer/],
  ['half a character', { title: { min: '\ud83d' } }, /^claim: .*title.*characters/],
  ['a time that is none', { since: { min: 'yesterday' } }, /^claim: .*since.*yesterday.*2026/],
  ['a day that is none', { since: { min: '2026-02-30' } }, /^claim: .*since.*02-30/],
  ['a time without an offset', { since: '2026-02-01T00:00:00' }, /^claim: .*since/],
  ['a time finer than events have', { since: '2026-02-01T00:00:00.0001Z' }, /^claim: .*since.*milliseconds/],
  ['a time where a day is meant', { day: { max: '2026-02-01T00:00:00Z' } }, /^claim: .*day.*use a day/],
  ['a value of another type', { amount: 'ten' }, /^claim: .*amount.*ten/],
  ['a bound of another type', { amount: { max: '10' } }, /^claim: .*amount.*10/],
  ['a bound of a flag', { urgent: { min: true } }, /^claim: .*urgent.*min/],
  ['a comparison with no field', { amount: { min: { field: 'mots' } } }, /^claim: .*amount.*mots.*most/],
  [
    'a comparison with a field of another type',
    { amount: { field: 'title' } },
    /^claim: .*amount.*title.*type/,
  ],
  ['a comparison of a day with a time', { day: { field: 'since' } }, /^claim: .*day.*since.*type/],
  ['a comparison of references to others', { team: { field: 'author' } }, /^claim: .*team.*author.*type/],
  ['a word beside `field`', { amount: { field: 'most', min: 1 } }, /^claim: .*amount.*min/],
  [
    'a field of the target where one of the claim is meant',
    { team: { used: { field: 'budget' } } },
    /claim does not have/,
  ],
  [
    'a field of the aggregate in a condition on items',
    { team: { members: { some: { part: { field: 'title' } } } } },
    /^team.members: .*part.*title.*items/,
  ],
  ['a word beside a field of the caller', { title: { caller: 'role', min: 'a' } }, /^claim: .*title.*min/],
  ['a condition beside an empty reference', { team: { not: null, name: 'One' } }, /^claim: .*team.*name/],
  ['a field of an item that is not declared', { team: { members: { some: { prat: 'x' } } } }, /prat/],
  ['a list in a list', { team: { members: { some: { members: { some: {} } } } } }, /members.*members/],
  ['a number', 5, /^claim: .*5/],
  ['nothing', null, /^claim: /],
  ['a name of every object', 'constructor', /^claim .*constructor/],
  ['a name of every object as a key', { constructor: true }, /^claim.*constructor/],
  ['a name of every object as a field', { toString: 'x' }, /^claim.*toString/],
  ['a name of every object behind a reference', { team: 'valueOf' }, /^team .*valueOf/],
  [
    'a name of every object among fields of items',
    { team: { members: { some: { valueOf: 1 } } } },
    /valueOf/,
  ],
])('refuses %s at the start', (_, condition, refused) => {
  expect(() => expenses(condition)).toThrow(
    expect.objectContaining({ name: 'StartRefused', message: expect.stringMatching(refused) }),
  );
  expect(() => expenses(true, { asked: condition })).toThrow(refused);
});
