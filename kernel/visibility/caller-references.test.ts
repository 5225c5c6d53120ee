import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';
import { callerReferencesOf } from './caller-references.ts';

const base = domain({ name: 'tasks', roles: ['member'] });
const { aggregate, user } = base;
const team = aggregate('team', {
  fields: { name: line(9), lead: ref(user) },
  events: { formed: { creates: ['name', 'lead'] } },
  commands: { form: { emits: 'formed' } },
  rights: { read: { anyone: true } },
});
const task = aggregate('task', {
  owner: 'maker',
  fields: {
    maker: ref(user),
    assignee: ref(user),
    helper: ref(user).optional(),
    checker: ref(user).optional(),
    team: ref(team),
    status: states('open', 'done'),
  },
  events: { made: { creates: ['assignee', 'helper', 'checker', 'team'] } },
  commands: { make: { emits: 'made' } },
  rights: {
    read: {
      member: [
        'own',
        { assignee: 'caller' },
        { done: true, helper: { caller: true } },
        { team: { lead: 'caller' } },
      ],
    },
  },
});
const tasks = assemble(base, [team, task]);
const references = (kind: string) => callerReferencesOf(tasks, tasks.kinds[kind] as Kind);

test('each reference by which a right to read names or reaches the caller has an index; others have none', () => {
  expect(references('task')).toEqual(['assignee', 'helper', 'team']);
  expect(references('team')).toEqual(['lead']);
});

test('users are found by their own id, which needs no further index', () =>
  expect(references('user')).toEqual([]));
