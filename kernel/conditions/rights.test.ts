import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref, states } from '../declare/fields.ts';
import { always } from './expression.ts';
import { isReadAs, rightOf, rightsOf } from './rights.ts';

const base = domain({ name: 'forum', roles: ['member', 'guide'] });
const { aggregate, user } = base;
const ended = { added: { creates: ['text'] }, removed: { ends: true } } as const;
const commands = { add: { emits: 'added' }, remove: { emits: 'removed' } } as const;
const topic = aggregate('topic', {
  owner: 'author',
  fields: { author: ref(user), text: line(10), status: states('shut', 'open') },
  events: ended,
  commands,
  rights: { read: { anyone: 'open', member: ['open', 'own'], guide: true }, write: { member: 'own' } },
});
const post = aggregate('post', {
  parent: 'topic',
  fields: { topic: ref(topic), text: line(10) },
  events: ended,
  commands,
  rights: { read: { as: 'topic' }, write: { as: 'topic' } },
});
const replyWith = (read: object) =>
  aggregate('reply', {
    parent: 'post',
    owner: 'author',
    fields: { post: ref(post), author: ref(user), answered: ref('reply').optional(), text: line(10) },
    events: ended,
    commands,
    rights: { read: read as never, write: { as: 'post' } },
  });
const forumWith = (read: object) => assemble(base, [topic, post, replyWith(read)]);
const readOf = (read: object, role: string) => {
  const forum = forumWith(read);
  const { reply } = forum.kinds;
  if (reply === undefined) throw new Error('There is no reply');
  return rightOf(forum, reply, 'read', role);
};

const isOpen = { op: 'is', field: 'status', value: 'open' };
const behind = (of: object) => ({
  op: 'at',
  field: 'post',
  kind: 'post',
  of: { op: 'at', field: 'topic', kind: 'topic', of },
});

test('`as` through two references asks the last one for the right', () => {
  expect(readOf({ as: 'post' }, 'anonymous')).toEqual(behind(isOpen));
  expect(readOf({ as: 'post' }, 'member')).toEqual({
    op: 'or',
    of: [behind(isOpen), behind({ op: 'caller', field: 'author' })],
  });
  expect(readOf({ as: 'post' }, 'guide')).toBe(always);
  expect(readOf({ as: 'post' }, 'admin')).toBe(always);
});

test('a role named beside `as` has its own right', () => {
  const read = { as: 'post', member: 'own', admin: false };
  expect(readOf(read, 'member')).toEqual({ op: 'caller', field: 'author' });
  expect(readOf(read, 'admin')).toEqual({ op: 'const', value: false });
  expect(readOf(read, 'anonymous')).toEqual(behind(isOpen));
  expect(readOf({ as: 'post', signedIn: 'own' }, 'guide')).toEqual({ op: 'caller', field: 'author' });
  expect(readOf({ as: 'post', signedIn: 'own' }, 'anonymous')).toEqual(behind(isOpen));
});

test.each([
  [
    'an entry for anyone beside it',
    { as: 'post', anyone: true },
    'reply: the right read has an entry for anyone, so `as` has no effect',
  ],
  [
    'one that leads back to itself',
    { as: 'answered' },
    'reply: the right read has `as` answered, which leads back to itself',
  ],
])('%s is refused', (_, read, message) => expect(() => rightsOf(forumWith(read))).toThrow(message));

test('a right with cells beside `as` is not read as its parent', () => {
  const isAs = (read: object) => isReadAs(forumWith(read).kinds.reply ?? ({} as never), 'post');
  expect([
    isAs({ as: 'post' }),
    isAs({ as: 'post', scope: 'see' }),
    isAs({ as: 'post', member: false }),
  ]).toEqual([true, true, false]);
});
