import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { flag, instant, line, list, ref, states } from '../declare/fields.ts';
import { rulesOf } from './given.ts';

const base = domain({ name: 'desk', roles: ['agent'] });
const { aggregate, user } = base;
const ticket = aggregate('ticket', {
  owner: 'customer',
  fields: {
    customer: ref(user),
    subject: line(50),
    messages: list(
      {
        text: line(50),
        author: ref(user),
        sentAt: instant(),
        internal: flag(),
        editedAt: instant().optional(),
      },
      { max: 3 },
    ),
    tasks: list(
      {
        title: line(50),
        state: states('todo', 'done'),
        doneAt: instant().optional(),
        doneBy: ref(user).optional(),
        reason: line(50).optional(),
      },
      { max: 3, ordered: true },
    ),
    status: states('open', 'waiting'),
  },
  events: {
    opened: { creates: ['subject'] },
    replied: {
      adds: 'messages',
      fields: ['text'],
      sets: { author: 'caller', sentAt: 'now', internal: false },
      also: { status: 'open' },
    },
    noteAdded: {
      adds: 'messages',
      fields: ['text'],
      sets: { author: 'caller', sentAt: 'now', internal: true },
    },
    messageEdited: { updates: 'messages', fields: ['text'], sets: { editedAt: 'now' } },
    messageChanged: { updates: 'messages', fields: ['text'] },
    messageSeen: { updates: 'messages', sets: { editedAt: 'now' } },
    taskAdded: { adds: 'tasks', fields: ['title'] },
    taskDone: { updates: 'tasks', sets: { state: 'done', doneAt: 'now', doneBy: 'caller' } },
    taskDropped: { updates: 'tasks', fields: ['reason'], sets: { state: 'done' } },
    messageRetracted: { updates: 'messages', sets: { text: '(retracted)' } },
    messageRemoved: { removes: 'messages' },
    waited: { sets: { status: 'waiting' } },
  },
  commands: {
    open: { emits: 'opened' },
    reply: { emits: 'replied' },
    addNote: { emits: 'noteAdded' },
    changeMessage: { emits: 'messageChanged' },
    amendMessage: { emits: 'messageEdited' },
    seeMessage: { emits: 'messageSeen' },
    addTask: { emits: 'taskAdded' },
    finishTask: { emits: 'taskDone' },
    dropTask: { emits: 'taskDropped', whenItem: { state: 'todo', doneBy: null } },
    retractMessage: { emits: 'messageRetracted', whenItem: { author: 'caller' } },
    removeMessage: { emits: 'messageRemoved', when: 'open', whenItem: { author: 'caller' } },
    wait: { emits: 'waited' },
  },
  rights: { read: { agent: true }, write: { agent: true } },
});
const desk = assemble(base, [ticket]);
const { given } = rulesOf(desk);

const AT = '2026-01-02T03:04:05.678Z';
const opened = ['opened', { subject: 'It burns' }] as const;
const sent = { authorId: 1, sentAt: AT, editedAt: null };
const replied = ['replied', { messageId: 1, text: 'Yes', internal: false, ...sent }] as const;
const task = { state: 'todo', doneAt: null, doneById: null, reason: null };
const taskAdded = ['taskAdded', { taskId: 1, title: 'Call', ...task, rank: 'a0' }] as const;

test('the server sets fields of a new item, which its event contains', () => {
  given(ticket, opened).when('reply', { text: 'Yes' }).yields(replied);
  given(ticket, opened, replied)
    .when('addNote', { text: 'Rude' })
    .yields(['noteAdded', { messageId: 2, text: 'Rude', internal: true, ...sent }]);
});

test('the event of an item can set fields of the aggregate as well', () => {
  const { state } = given(ticket, opened, 'waited', replied);
  expect(state).toMatchObject({ fields: { status: 'open', messages: [{ author: 1, internal: false }] } });
});

test('a form has the fields that it names, or those that no event sets', () => {
  const { commands } = desk.kinds.ticket ?? {};
  expect(
    Object.values(commands ?? {}).map(({ name, kind, itemForm, verb }) => [name, kind, itemForm, verb]),
  ).toEqual([
    ['open', 'create', [], undefined],
    ['reply', 'addItem', ['text'], undefined],
    ['addNote', 'addItem', ['text'], 'addNote'],
    ['changeMessage', 'changeItem', ['text'], undefined],
    ['amendMessage', 'actOnItem', ['text'], 'amend'],
    ['seeMessage', 'actOnItem', [], 'see'],
    ['addTask', 'addItem', ['title'], undefined],
    ['finishTask', 'actOnItem', [], 'finish'],
    ['dropTask', 'actOnItem', ['reason'], 'drop'],
    ['retractMessage', 'actOnItem', [], 'retract'],
    ['removeMessage', 'removeItem', [], undefined],
    ['wait', 'action', [], undefined],
  ]);
});

test('a command changes an item by what its event sets, once', () => {
  const done = { taskId: 1, state: 'done', doneAt: AT, doneById: 1 };
  given(ticket, opened, taskAdded).when('finishTask', { taskId: 1 }).yields(['taskDone', done]);
  given(ticket, opened, taskAdded, ['taskDone', done]).when('finishTask', { taskId: 1 }).changesNothing();
  given(ticket, opened, taskAdded).when('finishTask', { taskId: 2 }).refuses('ticket_task_not_found');
  given(ticket, opened, taskAdded)
    .when('dropTask', { taskId: 1, reason: 'Too late' })
    .yields(['taskDropped', { taskId: 1, reason: 'Too late', state: 'done' }]);
});

test('an event that sets only the time happens each time; with a form, only if that changes something', () => {
  given(ticket, opened, replied)
    .when('seeMessage', { messageId: 1 })
    .yields(['messageSeen', { messageId: 1, editedAt: AT }]);
  given(ticket, opened, replied)
    .when('amendMessage', { messageId: 1, text: 'No' })
    .yields(['messageEdited', { messageId: 1, text: 'No', editedAt: AT }]);
  given(ticket, opened, replied).when('amendMessage', { messageId: 1, text: 'Yes' }).changesNothing();
});

test('a condition on the item refuses a command, in its own words', () => {
  const dropped = ['taskDropped', { taskId: 1, state: 'done' }] as const;
  given(ticket, opened, taskAdded, dropped)
    .when('dropTask', { taskId: 1, reason: 'Again' })
    .refuses('ticket_task_not_todo', 'The ticket task is not todo.');
  given(ticket, opened, replied)
    .when('retractMessage', { messageId: 1 })
    .yields(['messageRetracted', { messageId: 1, text: '(retracted)' }]);
  const ofOther = ['replied', { ...replied[1], authorId: 2 }] as const;
  given(ticket, opened, ofOther).when('retractMessage', { messageId: 1 }).refuses('ticket_message_not_ready');
  given(ticket, opened, 'waited', ofOther, 'waited')
    .when('removeMessage', { messageId: 1 })
    .refuses('ticket_not_open');
  given(ticket, opened, ofOther).when('removeMessage', { messageId: 2 }).refuses('ticket_message_not_found');
});
