import { test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { choice, integer, line, list, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'teams', roles: ['lead'] });
const { aggregate, user } = base;
const team = aggregate('team', {
  fields: {
    name: line(50),
    members: list(
      { user: ref(user), level: choice('member', 'guest'), place: integer(0, 99).default(0) },
      { max: 3, key: 'user' },
    ),
    status: states('calm', 'busy'),
  },
  events: {
    founded: { creates: ['name'] },
    joined: { adds: 'members', sets: { level: 'member' } },
    invited: { adds: 'members', sets: { level: 'guest' } },
    hurried: { adds: 'members', sets: { level: 'member' }, also: { status: 'busy' } },
    calmed: { sets: { status: 'calm' } },
    placed: { adds: 'members', sets: { level: 'member' }, computes: ['place'] },
  },
  commands: {
    found: { emits: 'founded' },
    join: { emits: 'joined' },
    invite: { emits: 'invited' },
    hurry: { emits: 'hurried' },
    calm: { emits: 'calmed' },
    place: { emits: 'placed', decide: () => [['placed', { place: 7 }] as const] },
  },
  rights: { read: { anyone: true }, write: { signedIn: true } },
});
const { given } = rulesOf(assemble(base, [team]));

const founded = ['founded', { name: 'A' }] as const;
const joined = ['joined', { userId: 2, level: 'member', place: 0 }] as const;

test('to add an identical item again changes nothing', () => {
  given(team, founded, joined).when('join', { userId: 2 }).changesNothing();
});

test('an item that the event would give other values exists already', () => {
  given(team, founded, joined).when('invite', { userId: 2 }).refuses('team_member_exists');
  given(team, founded, joined).when('place', { userId: 2 }).refuses('team_member_exists');
});

test('an identical item exists already if its event would still change the aggregate', () => {
  const hurried = ['hurried', { userId: 2, level: 'member', place: 0 }] as const;
  given(team, founded, hurried).when('hurry', { userId: 2 }).changesNothing();
  given(team, founded, hurried, 'calmed').when('hurry', { userId: 2 }).refuses('team_member_exists');
  given(team, founded, joined).when('hurry', { userId: 2 }).refuses('team_member_exists');
});
