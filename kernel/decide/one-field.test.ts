import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, list, states } from '../declare/fields.ts';
import { definitionsOf } from '../events/definitions.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'desk', roles: ['clerk'] });
const ticket = base.aggregate('ticket', {
  fields: {
    title: line(9),
    reason: line(9).optional(),
    tasks: list({ text: line(9), note: line(9).optional(), state: states('todo', 'done') }, { max: 3 }),
    status: states('open', 'closed'),
  },
  events: {
    opened: { creates: ['title', 'reason'] },
    closed: { changes: ['reason'], sets: { status: 'closed' } },
    taskAdded: { adds: 'tasks', fields: ['text'] },
    taskDone: { updates: 'tasks', fields: ['note'], sets: { state: 'done' } },
  },
  commands: {
    open: { emits: 'opened' },
    close: { emits: 'closed' },
    addTask: { emits: 'taskAdded' },
    finishTask: { emits: 'taskDone' },
  },
  rights: { read: { anyone: true }, write: { clerk: true } },
});
const desk = assemble(base, [ticket]);
const { given } = rulesOf(desk);

const opened = ['opened', { title: 'A', reason: 'Old' }] as const;
const taskAdded = ['taskAdded', { taskId: 1, text: 'B', note: null, state: 'todo' }] as const;
test.each([{}, { reason: 'Old' }])('an action with the form %j keeps the only field of its event', (form) => {
  given(ticket, opened)
    .when('close', form)
    .yields(['closed', { reason: 'Old' }]);
  given(ticket, opened, ['closed', { reason: 'Old' }])
    .when('close', form)
    .changesNothing();
});

test('the event of an action on an item may lack the only field of its form', () => {
  given(ticket, opened, taskAdded)
    .when('finishTask', { taskId: 1 })
    .yields(['taskDone', { taskId: 1, state: 'done' }]);
});

test.each([
  ['ticket.closed', { ticketId: 8, reason: 'Old' }, { ticketId: 8 }],
  ['ticket.taskDone', { ticketId: 8, taskId: 1 }, { ticketId: 8 }],
])('the schema of %s is that of these decisions', (type, right, wrong) => {
  const schema = definitionsOf(desk).find((definition) => definition.type === type)?.schema;
  expect([right, wrong].map((data) => schema?.safeParse(data).success)).toEqual([true, false]);
});
