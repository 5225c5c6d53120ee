import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, list, ref } from '../declare/fields.ts';
import { followingOf } from './reactions.ts';

const base = domain({ name: 'plans', roles: ['planner'] });
const team = base.aggregate('team', {
  fields: { name: line(9) },
  events: { founded: { creates: ['name'] }, dissolved: { ends: true } },
  commands: { found: { emits: 'founded' }, dissolve: { emits: 'dissolved' } },
  rights: { read: { anyone: true } },
});
const plan = base.aggregate('plan', {
  fields: {
    title: line(9),
    steps: list({ by: ref(team).optional(), says: line(9) }, { max: 9, ordered: true }),
    rooms: list({ name: line(9), of: ref(team) }, { max: 9, key: 'name' }),
  },
  events: {
    made: { creates: ['title'] },
    stepAdded: { adds: 'steps' },
    stepChanged: { updates: 'steps' },
    stepMoved: { moves: 'steps' },
    stepRemoved: { removes: 'steps' },
    roomAdded: { adds: 'rooms' },
    roomRemoved: { removes: 'rooms' },
    dropped: { ends: true },
  },
  commands: { make: { emits: 'made' }, removeStep: { emits: 'stepRemoved' }, drop: { emits: 'dropped' } },
  rights: { read: { anyone: true } },
  reactions: { 'steps.by': { dissolved: { run: 'removeStep' } }, 'rooms.of': { dissolved: { run: 'drop' } } },
});
const following = followingOf(assemble(base, [team, plan]));

const leadsOf = (event: string, data: object) =>
  following?.leads
    .get(`plan.${event}`)
    ?.map(({ nameIn, idIn }) => [nameIn(data as never), idIn(data as never, 'user:1')]);

test('each item is a reference of its own until it changes or is removed', () => {
  expect(leadsOf('stepAdded', { stepId: 3, byId: 7, says: 'x', rank: 'a0' })).toEqual([
    ['plan.steps.by/3', 7],
  ]);
  expect(leadsOf('stepAdded', { stepId: 3, byId: null })).toEqual([['plan.steps.by/3', null]]);
  expect(leadsOf('stepChanged', { stepId: 3, byId: 8 })).toEqual([['plan.steps.by/3', 8]]);
  expect(leadsOf('stepChanged', { stepId: 3, says: 'y' })).toEqual([['plan.steps.by/3', undefined]]);
  expect(leadsOf('stepRemoved', { stepId: 3 })).toEqual([['plan.steps.by/3', null]]);
  expect(leadsOf('stepMoved', { stepId: 3, rank: 'a1' })).toBeUndefined();
});

test('a key is escaped so that it is distinct from the rest of the name', () => {
  expect(leadsOf('roomAdded', { name: 'a b/c', ofId: 7 })).toEqual([['plan.rooms.of/a%20b%2Fc', 7]]);
});

test('an end follows the references of all items', () => {
  expect(following?.reactions.get('team.dissolved')).toEqual(['plan.steps.by', 'plan.rooms.of']);
  expect(following?.lastingEnds).toEqual(new Set(['team.dissolved']));
});
