import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, list, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'reads', roles: ['member'] });
const { aggregate, user } = base;
const anyone = { read: { anyone: true }, write: { anyone: true } } as const;
const team = aggregate('team', {
  fields: {
    budget: integer(0, 99),
    members: list({ person: ref(user) }, { max: 9 }),
    status: states('open', 'closed'),
  },
  derived: { size: { count: 'members' } },
  events: {
    formed: { creates: ['budget'] },
    joined: { adds: 'members' },
    closed: { sets: { status: 'closed' } },
    dissolved: { ends: true },
  },
  commands: {
    form: { emits: 'formed' },
    join: { emits: 'joined' },
    close: { emits: 'closed' },
    dissolve: { emits: 'dissolved' },
  },
  rights: anyone,
});
const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    team: ref(team),
    amount: integer(1, 99),
    note: line(9).optional(),
    status: states('draft', 'submitted', 'refused'),
  },
  events: {
    drafted: { creates: ['team', 'amount'] },
    submitted: { sets: { status: 'submitted' } },
    refused: { sets: { status: 'refused' } },
    moved: { changes: ['team'] },
  },
  commands: {
    draft: { emits: 'drafted', next: ['submit'] },
    submit: {
      emits: ['submitted', 'refused'],
      reads: ['team'],
      decide: ({ state, reads: { team: its } }) =>
        its !== null && its.size > 0 && its.budget >= state.amount ? ['submitted'] : ['refused'],
    },
    move: {
      emits: ['moved'],
      reads: ['team'],
      decide: ({ reads }) => (reads.team?.status === 'open' ? ['moved'] : []),
    },
    peek: { emits: ['submitted'], decide: ({ reads }) => (reads.team === null ? [] : ['submitted']) },
  },
  rights: anyone,
});
const { given } = rulesOf(assemble(base, [team, claim]));

const formed = ['formed', { budget: 50 }] as const;
const drafted = ['drafted', { teamId: 7, amount: 40 }] as const;
const joined = given(team, formed, ['joined', { memberId: 1, personId: 1 }]);

test('a decision gets the targets of its references, with numbers derived from lists', () => {
  given(claim, drafted).beside({ team: joined.state }).when('submit').yields('submitted');
  given(claim, drafted)
    .beside({ team: given(team, formed).state })
    .when('submit')
    .yields('refused');
});

test('an absent or ended target is null', () => {
  given(claim, drafted).when('submit').yields('refused');
  given(claim, drafted)
    .beside({ team: given(team, formed, 'dissolved').state })
    .when('submit')
    .yields('refused');
});

test('a form with another reference gives the decision the new target', () => {
  given(claim, drafted)
    .beside({ team: joined.state })
    .when('move', { teamId: 8 })
    .yields(['moved', { teamId: 8 }]);
  given(claim, drafted)
    .beside({ team: given(team, formed, 'closed').state })
    .when('move', { teamId: 8 })
    .changesNothing();
});

test('reading a reference that is not declared throws', () => {
  expect(() => given(claim, drafted).beside({ team: joined.state }).when('peek').changesNothing()).toThrow(
    'claim: the `decide` of peek uses the target of team: add it to `reads`',
  );
});

type Declared = { readonly draft?: object; readonly rights?: object; readonly invariants?: object };
const declared = (command: object, { draft, rights, ...more }: Declared = {}) =>
  assemble(base, [
    team,
    aggregate('claim', {
      fields: { team: ref(team), note: line(9) },
      events: { drafted: { creates: ['team', 'note'] }, noted: {} },
      commands: { draft: { emits: 'drafted', ...draft }, note: { emits: 'noted', ...command } },
      rights: { read: { anyone: true }, ...rights },
      ...more,
    } as never),
  ]);

test.each([
  [
    'no reference',
    { reads: ['note'] },
    'claim: the command note reads note, which is not one of its references: use one of team.',
  ],
  [
    'what nothing asks for',
    { reads: ['team'] },
    'claim: the command note reads team, but no condition uses it: remove it from `reads`, or give the command a `decide`.',
  ],
])('reading %s is refused, with place and solution', (_, command, says) => {
  expect(() => declared(command)).toThrow(says);
});

test.each([
  ['a guard', { reads: ['team'], when: { team: 'open' } }, {}],
  ['a right', { reads: ['team'] }, { rights: { note: { member: { team: 'open' } } } }],
  ['an invariant', { reads: ['team'] }, { invariants: { inOpenTeam: { team: 'open' } } }],
])('the reads of %s can be fenced', (_, command, more) => {
  expect(declared(command, more).kinds.claim?.commands.note?.reads).toEqual(['team']);
});

test.each([
  ['guard', { when: { team: 'open' } }, {}],
  ['right', {}, { rights: { note: { member: { team: 'open' } } } }],
])('a creation can fence what the %s of its `next` command asks for', (_, command, more) => {
  const all = declared(command, { draft: { next: ['note'], reads: ['team'] }, ...more });
  expect(all.kinds.claim?.commands.draft?.reads).toEqual(['team']);
});
