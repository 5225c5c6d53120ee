import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import { membershipsOf } from './memberships.ts';

const shown = (domain: Parameters<typeof membershipsOf>[0]) =>
  membershipsOf(domain).map(({ joins, changes, carries: _, ...same }) => ({
    ...same,
    joins: [...joins],
    changes: [...changes],
  }));

test('the memberships of the publishing domain stay the same', () => {
  expect(shown(publishing)).toEqual([
    {
      ...{
        kind: 'article',
        parentKind: 'user',
        parentEnd: 'user.deleted',
        parentKey: 'authorId',
        end: 'article.deleted',
      },
      ids: ['articleId', 'authorId'],
      // An unpublished article belongs to its author again like a new one; a published one remains.
      joins: ['article.drafted', 'article.unpublished'],
      changes: ['article.drafted', 'article.published', 'article.unpublished', 'article.deleted'],
    },
    {
      ...{
        kind: 'comment',
        parentKind: 'article',
        parentEnd: 'article.deleted',
        parentKey: 'articleId',
        end: 'comment.deleted',
      },
      ids: ['commentId', 'articleId', 'authorId'],
      joins: ['comment.added'],
      changes: ['comment.added', 'comment.deleted'],
    },
    {
      ...{
        kind: 'webhook',
        parentKind: 'user',
        parentEnd: 'user.deleted',
        parentKey: 'ownerId',
        end: 'webhook.deleted',
      },
      ids: ['webhookId', 'ownerId'],
      joins: ['webhook.registered'],
      changes: ['webhook.registered', 'webhook.deleted'],
    },
  ]);
});

const base = domain({ name: 'tasks', roles: ['member'] });
const { aggregate, user } = base;
const board = aggregate('board', {
  fields: { title: line(10) },
  events: { opened: { creates: ['title'] }, renamed: { changes: ['title'] }, closed: { ends: true } },
  commands: { open: { emits: 'opened' }, rename: { emits: 'renamed' }, close: { emits: 'closed' } },
  rights: { read: { anyone: true } },
});
const taskWith = (reactions: object) =>
  aggregate('task', {
    parent: 'board',
    owner: 'lead',
    fields: {
      board: ref(board),
      helper: ref(user),
      title: line(10),
      lead: ref(user),
      note: line(10).optional().personal(),
      status: states('new', 'begun', 'done'),
    },
    events: {
      added: { creates: ['title', 'helper'] },
      begun: { sets: { status: 'begun' } },
      finished: { sets: { status: 'done' } },
      dropped: { ends: true },
      lost: { ends: true, carries: ['note'] },
    },
    commands: {
      add: { emits: 'added' },
      begin: { emits: 'begun' },
      finish: { emits: 'finished' },
      drop: { emits: 'dropped' },
      dropOrFinish: {
        emits: ['dropped', 'finished'],
        decide: ({ state }) => (state.title === '' ? ['dropped'] : ['finished']),
      },
      lose: { emits: 'lost' },
    },
    rights: { read: { as: 'board' } },
    reactions: reactions as never,
  });
const membershipIn = (reactions: object) => membershipsOf(assemble(base, [board, taskWith(reactions)]))[0];

test('a child ends with its parent in each state that its reaction names', () => {
  expect(membershipIn({ board: { closed: { run: 'drop', when: ['new', 'begun'] } } })).toMatchObject({
    ...{
      kind: 'task',
      parentKind: 'board',
      parentEnd: 'board.closed',
      parentKey: 'boardId',
      end: 'task.dropped',
    },
    joins: new Set(['task.added', 'task.begun']),
    changes: new Set(['task.added', 'task.begun', 'task.finished', 'task.dropped', 'task.lost']),
  });
});

test('a child whose end would record personal data is refused by name', () => {
  expect(() => membershipIn({ board: { closed: { run: 'lose' } } })).toThrow(
    'lost carries note, which is personal',
  );
});

test.each([
  ['another event', { board: { renamed: { run: 'drop' } } }],
  ['by another command', { board: { closed: { run: 'finish' } } }],
  ['by a command that may do something else', { board: { closed: { run: 'dropOrFinish' } } }],
  ['in other cases than states', { board: { closed: { run: 'drop', when: { title: 'x' } } } }],
  ['by a reference that changes', { helper: { deleted: { run: 'drop' } } }],
])('a reaction to %s is no membership', (_, reactions) =>
  expect(membershipIn(reactions)?.kind).toBe('webhook'),
);
