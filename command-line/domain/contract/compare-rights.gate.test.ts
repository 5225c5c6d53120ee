import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, flag, integer, line, list, ref, states } from '#kernel/declare/fields.ts';
import { compareRights } from './compare-rights.ts';
import { contractOf } from './contract.ts';

/** The rights of a customer to read tickets, and their price. */
const rightsOf = (read: unknown, price: unknown = true) => {
  const base = domain({ name: 'helpdesk', roles: ['customer', 'agent'] });
  const team = base.aggregate('team', {
    fields: {
      name: line(60),
      isOpen: flag(),
      members: list({ person: ref(base.user), part: choice('lead', 'guest') }, { max: 9, key: 'person' }),
    },
    facts: {
      member: { members: { some: { person: 'caller' } } },
      leading: { members: { some: { person: 'caller', part: 'lead' } } },
    },
    events: { founded: { creates: ['name', 'isOpen'] } },
    commands: { found: { emits: 'founded' } },
    rights: { read: { anyone: true } },
  } as never);
  const ticket = base.aggregate('ticket', {
    owner: 'customer',
    fields: {
      customer: ref(base.user),
      team: ref(team as never),
      note: line(60).optional().personal(),
      price: integer(1, 9),
      status: states('open', 'waiting', 'solved'),
    },
    facts: { ours: { team: 'member' }, live: ['open', 'waiting'] },
    events: { opened: { creates: ['team', 'note', 'price'] } },
    commands: { open: { emits: 'opened' } },
    rights: { read: { customer: read, agent: true } },
    fieldRights: { readPrice: { reads: ['price'], customer: price, agent: true } },
  } as never);
  return contractOf(assemble(base as never, [team, ticket] as never)).rights;
};

const told = (before: ReturnType<typeof rightsOf>, after: ReturnType<typeof rightsOf>, right: string) =>
  compareRights(before, after).flatMap(({ what, weight, says }) =>
    what === `right ${right} customer` ? [`${weight} ${says.split(':', 1)[0]}`] : [],
  );

const SAYS = {
  wider: { onwards: ['adds Wider'], back: ['warns Narrower'] },
  same: { onwards: [], back: [] },
  changed: { onwards: ['warns Changed, may be wider'], back: ['warns Changed, may be wider'] },
} as const;

test.each<[string, unknown, unknown, keyof typeof SAYS]>([
  ['never, and under a condition', false, 'own', 'wider'],
  ['under a condition, and always', 'own', true, 'wider'],
  ['of one, and of any of several', 'own', ['own', 'ours'], 'wider'],
  ['under two conditions, and under one of them', { own: true, solved: true }, 'own', 'wider'],
  ['under two conditions, and under any of them', { own: true, solved: true }, ['own', 'solved'], 'wider'],
  ['under one of several with another, and without that', { live: true, own: true }, 'live', 'wider'],
  [
    'under some with another, and under all of these with it',
    { open: true, own: true },
    { live: true, own: true },
    'wider',
  ],
  [
    'of what a reference leads to two things, and one of them',
    { team: { member: true, isOpen: true } },
    { team: 'member' },
    'wider',
  ],
  ['unless any of two, and unless one of them', { live: false }, { open: false }, 'wider'],
  [
    'unless two together, and unless one of them',
    { open: false },
    [{ open: false }, { own: false }],
    'wider',
  ],
  ['the same, in another order', { own: true, solved: true }, { solved: true, own: true }, 'same'],
  [
    'the same, multiplied out',
    { live: true, own: true },
    [
      { open: true, own: true },
      { waiting: true, own: true },
    ],
    'same',
  ],
  ['something else', 'own', 'solved', 'changed'],
  ['one of two conditions exchanged', { own: true, solved: true }, { own: true, open: true }, 'changed'],
  ['of one item two things, and one of them', { team: 'leading' }, { team: 'member' }, 'changed'],
])('readers are compared by the meaning of conditions: %s', (_, one, other, change) => {
  const [first, second] = [rightsOf(one), rightsOf(other)];
  expect(told(first, second, 'ticket.read')).toEqual(SAYS[change].onwards);
  expect(told(second, first, 'ticket.read')).toEqual(SAYS[change].back);
});

test('a right to a part combines with the condition of the whole: without the latter it is wider', () => {
  const [before, after] = [rightsOf(['own', 'ours'], 'solved'), rightsOf(['own', 'ours'], true)];
  expect(told(before, after, 'ticket.read_price')).toEqual(SAYS.wider.onwards);
  expect(told(after, before, 'ticket.read_price')).toEqual(SAYS.wider.back);
});

test('a further condition narrows the readers of personal data, and another one widens them', () => {
  const breaking = (before: unknown, after: unknown) =>
    compareRights(rightsOf(before), rightsOf(after)).flatMap(({ what, weight }) =>
      weight === 'breaks' ? [what] : [],
    );
  expect(breaking('own', { own: true, solved: true })).toEqual([]);
  expect(breaking({ own: true, solved: true }, 'own')).toEqual(['personal ticket.note customer']);
  expect(breaking('own', 'solved')).toEqual(['personal ticket.note customer']);
});

test('a condition recorded in words by an earlier release is one part, unless it is still declared', () => {
  const both = { own: true, solved: true };
  const { conditions: _, ...before } = rightsOf(both);
  expect(told(before, rightsOf('own'), 'ticket.read')).toEqual(SAYS.changed.onwards);
  expect(told(before, rightsOf(both), 'ticket.read')).toEqual(SAYS.same.onwards);
  expect(told(before, rightsOf([both, 'live']), 'ticket.read')).toEqual(SAYS.wider.onwards);
});
