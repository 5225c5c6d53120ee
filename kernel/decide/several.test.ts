// Over 200 lines, because all cases share the domain that is declared here.
import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, list, ref, states } from '../declare/fields.ts';
import type { CommandInfo, Kind } from '../registry/registry.ts';
import { refusalsOfCommand } from '../rest/writes.ts';
import { ID, rulesOf } from './given.ts';
import type { Present } from './state.ts';

const base = domain({ name: 'several', roles: ['member'] });
const { aggregate } = base;
const anyone = { read: { anyone: true }, write: { anyone: true } } as const;
const team = aggregate('team', {
  fields: {
    budget: integer(0, 99),
    spent: integer(0, 999).default(0),
    members: list({ name: line(9), part: line(9).optional() }, { max: 2 }),
    status: states('open', 'closed'),
  },
  derived: { size: { count: 'members' } },
  events: {
    formed: { creates: ['budget'] },
    charged: { computes: ['spent'], carries: ['budget'] },
    joined: { adds: 'members' },
    left: { removes: 'members' },
    closed: { sets: { status: 'closed' } },
    dissolved: { ends: true },
  },
  facts: {
    solvent: { when: { spent: { max: { field: 'budget' } } }, says: 'The team has no money left.' },
  },
  invariants: { solvent: 'solvent' },
  commands: { form: { emits: 'formed' }, join: { emits: 'joined' }, dissolve: { emits: 'dissolved' } },
  rights: anyone,
});
const claim = aggregate('claim', {
  fields: {
    team: ref(team),
    amount: integer(1, 99),
    follows: ref('claim').optional(),
    status: states('draft', 'paid', 'settled'),
  },
  events: {
    drafted: { creates: ['team', 'amount'] },
    paid: { sets: { status: 'paid' } },
    settled: { sets: { status: 'settled' }, carries: ['amount'] },
    linked: { changes: ['follows'] },
  },
  invariants: { ofOpenTeam: [{ status: 'draft' }, { team: 'open' }] },
  commands: {
    draft: { emits: 'drafted', next: ['pay'] },
    pay: {
      emits: ['paid'],
      also: { team: ['charged'] },
      decide: ({ state, reads, on }) => [
        'paid',
        on('team', 'charged', { spent: (reads.team?.spent ?? 0) + state.amount }),
      ],
    },
    hire: {
      emits: ['settled'],
      also: { team: ['joined', 'left'] },
      decide: ({ reads, on }) => [
        'settled',
        ...(reads.team?.members ?? []).map(({ id }) => on('team', 'left', { id })),
        on('team', 'joined', { name: 'Ada' }),
        on('team', 'joined', { name: 'Bob', part: 'lead' }),
      ],
    },
    closeAll: {
      emits: ['paid'],
      also: { team: ['closed', 'dissolved'] },
      decide: ({ form, on }) => ['paid', on('team', form.amount === 1 ? 'dissolved' : 'closed')],
    },
    follow: {
      emits: 'linked',
      also: { follows: ['settled'] },
      decide: ({ on }) => ['linked', on('follows', 'settled')],
    },
  },
  rights: anyone,
});
const { given } = rulesOf(assemble(base, [team, claim]));

const formed = ['formed', { budget: 50 }] as const;
const drafted = ['drafted', { teamId: ID, amount: 40 }] as const;
const besides = (...history: Parameters<typeof given<typeof team>>[1][]) => ({
  team: given(team, formed, ...history).state,
});

test('values for another aggregate beyond the limits of their fields are refused', () => {
  const claims = given(claim, ['drafted', { teamId: ID, amount: 99 }]);
  claims
    .beside(besides(['charged', { spent: 950 }]))
    .when('pay')
    .refuses('invalid_command');
});

test('a decision returns events of the aggregates that it reads, with the carried values after them', () => {
  given(claim, drafted)
    .beside(besides())
    .when('pay')
    .yields('paid', ['team.charged', { teamId: ID, spent: 40, budget: 50 }]);
});

test('items are removed and added by the decision, with numbers of their own', () => {
  given(claim, drafted)
    .beside(besides(['joined', { memberId: 1, name: 'Eve', part: null }]))
    .when('hire')
    .yields(
      ['settled', { amount: 40 }],
      ['team.left', { teamId: ID, memberId: 1 }],
      ['team.joined', { teamId: ID, memberId: 2, name: 'Ada', part: null }],
      ['team.joined', { teamId: ID, memberId: 3, name: 'Bob', part: 'lead' }],
    );
});

test('the invariants of the other aggregate hold after the command, with its own sentence', () => {
  given(claim, drafted)
    .beside(besides(['charged', { spent: 20, budget: 50 }]))
    .when('pay')
    .refuses('team_not_solvent', 'The team has no money left.');
});

test('the invariants of the command’s own aggregate see the other one after the command', () => {
  given(claim, drafted).beside(besides()).when('closeAll').refuses('claim_not_of_open_team');
});

test('a full list of the other aggregate refuses the command', () => {
  const two = [1, 2].map((memberId) => ['joined', { memberId, name: 'Eve', part: null }] as const);
  given(claim, drafted)
    .beside(besides(...two))
    .when('hire')
    .yields(
      ['settled', { amount: 40 }],
      ['team.left', { teamId: ID, memberId: 1 }],
      ['team.left', { teamId: ID, memberId: 2 }],
      ['team.joined', { teamId: ID, memberId: 3, name: 'Ada', part: null }],
      ['team.joined', { teamId: ID, memberId: 4, name: 'Bob', part: 'lead' }],
    );
});

test('an absent or ended target refuses the command', () => {
  given(claim, drafted).when('pay').refuses('team_not_found');
  given(claim, drafted).beside(besides('dissolved')).when('pay').refuses('team_deleted');
});

test('a command that changes nothing of its own aggregate changes nothing elsewhere', () => {
  given(claim, drafted, 'paid').beside(besides()).when('pay').changesNothing();
});

test('an aggregate is not its own target', () => {
  given(claim, drafted)
    .beside({ ...besides(), claim: given(claim, drafted).state })
    .when('follow', { followsId: ID })
    .refuses('invalid_command');
});

test('another aggregate of the same kind can be the target', () => {
  const { state } = given(claim, drafted);
  const other = { ...state, fields: { ...(state as Present).fields, id: 9 } } as Present;
  given(claim, drafted)
    .beside({ ...besides(), claim: other })
    .when('follow', { followsId: 9 })
    .yields(['linked', { followsId: 9 }], ['claim.settled', { claimId: 9, amount: 40 }]);
});

test('a creation runs a command of its form that changes another aggregate', () => {
  given(claim)
    .beside(besides())
    .when('draft', { teamId: ID, amount: 40, pay: true })
    .yields(drafted, 'paid', ['team.charged', { teamId: ID, spent: 40, budget: 50 }]);
});

const declared = (command: object) =>
  assemble(base, [
    team,
    aggregate('claim', {
      fields: { team: ref(team), person: ref(base.user).optional(), note: line(9) },
      events: { drafted: { creates: ['team', 'note'] }, noted: {} },
      commands: { draft: { emits: 'drafted' }, note: { emits: ['noted'], decide: () => [], ...command } },
      rights: { read: { anyone: true } },
    } as never),
  ]);

test.each([
  [
    'what is no reference',
    { note: ['closed'] },
    'claim: the command note reads note, which is not one of its references: use one of team, person.',
  ],
  [
    'a user',
    { person: ['updated'] },
    'claim: the command note also changes the target of person, which is not an aggregate of the domain: send it a command by a reaction, or remove it from `also`.',
  ],
  [
    'by an unknown event',
    { team: ['shut'] },
    'claim: the command note also changes the target of team by shut, which is no event of team: use one of formed, charged, joined, left, closed, dissolved.',
  ],
  [
    'by a creation',
    { team: ['formed'] },
    'claim: the command note also changes the target of team by formed, which creates one: use an event of an existing team.',
  ],
])('a command that also changes %s is refused, with place and solution', (_, also, says) => {
  expect(() => declared({ also })).toThrow(says);
});

test('a command that also changes an aggregate without a decision is refused', () => {
  expect(() => declared({ also: { team: ['closed'] }, decide: undefined, emits: 'noted' })).toThrow(
    'claim: the command note also changes the target of team, but nothing decides on it: give it a `decide`.',
  );
});

test('an event that the command does not declare is an error of the declaration', () => {
  const on = declared({
    decide: ({ on }: { on: (...given: string[]) => unknown }) => ['noted', on('team', 'closed')],
  });
  expect(() =>
    rulesOf(on)
      .given({ kind: 'claim', events: {}, commands: {} } as never, ['drafted', {}] as never)
      .when('note' as never)
      .changesNothing(),
  ).toThrow('claim: note decided on closed of team, which is not in its `also`');
});

test('the refusals of the other aggregate are those of the command, too', () => {
  const bank = assemble(base, [team, claim]);
  const kind = bank.kinds.claim as Kind;
  const refusals = refusalsOfCommand(bank, kind, kind.commands.pay as CommandInfo);
  expect(refusals).toEqual(expect.arrayContaining(['team_not_found', 'team_deleted', 'team_not_solvent']));
  const hiring = refusalsOfCommand(bank, kind, kind.commands.hire as CommandInfo);
  expect(hiring).toEqual(expect.arrayContaining(['team_members_full', 'team_member_not_found']));
});
