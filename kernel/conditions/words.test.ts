import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { flag, integer, line, list, ref, states } from '../declare/fields.ts';
import { rightOf } from './rights.ts';
import { conditionWords, deedOf, expressionWords } from './words.ts';

const base = domain({ name: 'forum', roles: ['member'] });
const { aggregate, user } = base;
const events = {
  opened: { creates: ['title'] },
  shut: { sets: { status: 'shut' } },
  removed: { ends: true },
} as const;
const commands = {
  open: { emits: 'opened' },
  shut: { emits: 'shut' },
  remove: { emits: 'removed' },
} as const;
const topic = aggregate('topic', {
  owner: 'author',
  fields: {
    author: ref(user),
    title: line(10),
    size: integer(0, 9).default(0),
    pinned: flag().default(false),
    status: states('open', 'shut'),
  },
  events,
  commands,
  rights: { read: { anyone: 'open', member: ['open', 'own'] }, write: { member: 'own' } },
});
const reply = aggregate('reply', {
  parent: 'topic',
  owner: 'author',
  fields: {
    topic: ref(topic),
    author: ref(user),
    title: line(10).optional(),
    marks: list({ by: ref(user) }, { max: 3, key: 'by' }),
    status: states('open', 'shut'),
  },
  events: { ...events, marked: { adds: 'marks' } },
  commands: { ...commands, addMark: { emits: 'marked' } },
  rights: { read: { as: 'topic' }, write: { member: 'own' } },
});
const forum = assemble(base, [topic, reply]);
const kind = (name: string) => {
  const found = forum.kinds[name];
  if (!found) throw new Error(`There is no ${name}`);
  return found;
};

test.each([
  ['topic', 'open', 'its status is open'],
  ['topic', { open: false }, 'its status is not open'],
  ['topic', 'own', 'the caller is its author'],
  ['topic', { author: { caller: false } }, 'the caller is not its author'],
  ['topic', { author: { role: 'member' } }, 'the role of its author is member'],
  [
    'topic',
    ['open', { size: { min: 3 }, pinned: true }],
    'its status is open, or its size is at least 3 and its pinned is true',
  ],
  ['topic', { size: { not: [1, 2] } }, 'not (its size is 1, or its size is 2)'],
  ['topic', { size: { max: 5 } }, 'its size is at most 5'],
  ['reply', { title: null }, 'its title is not set'],
  ['reply', { topic: {} }, 'its topic is there'],
  ['reply', { topic: 'own', open: true }, 'the caller is the author of its topic and its status is open'],
  [
    'reply',
    { topic: { author: { role: ['member', 'admin'] } } },
    'the role of the author of its topic is member, or the role of the author of its topic is admin',
  ],
  ['reply', { marks: { some: { by: 'caller' } } }, 'for one of its marks, the caller is its by'],
  ['user', 'caller', 'the caller is the user'],
])('for %s, %j reads “%s”', (name, condition, words) =>
  expect(conditionWords(forum, kind(name), condition)).toBe(words),
);

test('a right with `as` has the text of its target', () => {
  expect(expressionWords(rightOf(forum, kind('reply'), 'read', 'member'))).toBe(
    'the status of its topic is open, or the caller is the author of its topic',
  );
  expect(expressionWords(rightOf(forum, kind('reply'), 'read', 'admin'))).toBe('always');
});

test.each([
  ['topic', 'read', 'read it'],
  ['topic', 'open', 'open a topic'],
  ['topic', 'shut', 'shut it'],
  ['reply', 'addMark', 'add mark in its marks'],
  ['user', 'readPrivate', 'read its email, role, created at and updated at'],
  ['user', 'changeRole', 'write its role'],
])('for %s, %s allows to %s', (name, operation, deed) => expect(deedOf(kind(name), operation)).toBe(deed));
