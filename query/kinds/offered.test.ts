import { expect, test } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { integer, line, list, states } from '#kernel/declare/fields.ts';
import { policyOf } from '#shared/policy.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';
import { linksOf } from './links.ts';
import { presentItems } from './present-items.ts';
import type { ItemRow } from './rows.ts';

const base = domain({ name: 'plans', roles: ['planner'] });
const plan = base.aggregate('plan', {
  fields: {
    title: line(50),
    score: integer(0, 99).default(0),
    tasks: list(
      { title: line(50), points: integer(0, 99).default(0), state: states('todo', 'done') },
      { max: 9 },
    ),
    status: states('open', 'shut'),
  },
  events: {
    made: { creates: ['title'] },
    shut: { sets: { status: 'shut' } },
    scored: { sets: { status: 'shut' }, computes: ['score'] },
    taskDone: { updates: 'tasks', sets: { state: 'done' } },
    lastTaskDone: { updates: 'tasks', sets: { state: 'done' }, also: { status: 'shut' } },
    taskRated: { updates: 'tasks', sets: { state: 'done' }, computes: ['points'] },
  },
  commands: {
    make: { emits: 'made' },
    shut: { emits: 'shut' },
    score: { emits: 'scored', decide: () => [['scored', { score: 1 }] as const] },
    finishTask: { emits: 'taskDone' },
    finishLastTask: { emits: 'lastTaskDone' },
    rateTask: { emits: 'taskRated', decide: () => [['taskRated', { points: 1 }] as const] },
  },
  rights: { read: { anyone: true }, write: { planner: true } },
});
const plans = assemble(base, [plan]);
const source = demandSource(sourcesOf(plans), 'plan');
const caller = callerIn(policyOf(plans), { userId: 1, role: 'planner' });

const AT = new Date(0);
const rowOf = (status: string) =>
  ({
    id: 1,
    title: 'Move',
    score: 0,
    status,
    version: 1,
    created_at: AT,
    updated_at: AT,
  }) as unknown as ItemRow;

test('an action is linked if what it sets or computes may change something', () => {
  const links = (status: string) =>
    Object.keys(linksOf(plans, source)(caller)(rowOf(status), { fields: {} }));
  expect(links('open')).toEqual(expect.arrayContaining(['shut', 'score']));
  expect(links('shut')).toContain('score');
  expect(links('shut')).not.toContain('shut');
});

test('an action on an item is linked if the item or its aggregate would change', () => {
  const [items] = source.items;
  if (items === undefined) throw new Error('the list is gone');
  const present = presentItems(plans, source, items);
  const links = (status: string, state: string) => {
    const { represent } = present(caller, { id: 1, resource: { fields: { status } }, hasRoom: true });
    const row = { id: 1, title: 'Pack', points: 0, state, created_at: AT, updated_at: AT };
    return Object.keys(represent(row)._links).filter((rel) => rel.includes('task'));
  };
  const all = ['finish-task', 'finish-last-task', 'rate-task'];
  expect(links('open', 'todo')).toEqual(all);
  expect(links('shut', 'todo')).toEqual(all);
  expect(links('open', 'done')).toEqual(['finish-last-task', 'rate-task']);
  expect(links('shut', 'done')).toEqual(['rate-task']);
});

test('a read of items loads the fields of the aggregate on which their links depend', () =>
  expect(source.needs.fields.map(({ name }) => name)).toContain('status'));
