import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { domain } from '#kernel/declare/domain.ts';
import { choice, flag, integer, line, prose, ref, set, states } from '#kernel/declare/fields.ts';
import { withheldOf } from '#shared/webhooks/withheld.ts';
import { departments } from '../../test/toy/departments.ts';
import { assemble } from '../assembly/assemble.ts';
import { attributesOf } from './attributes.ts';
import { resolve } from './expression.ts';
import { expressionWords } from './words.ts';

const FIELDS = {
  desk: line(20).optional(),
  phone: line(20).optional().personal(),
  story: prose(500).optional(),
  tags: set(line(10), 3).default([]),
  level: integer(0, 9).optional(),
  mentor: ref('post').optional(),
};

/** A domain whose right to read has this condition. */
const withRight = (condition: object, writes: readonly string[] = Object.keys(FIELDS)) => {
  const base = domain({
    name: 'desk',
    roles: ['clerk'],
    user: { fields: FIELDS, fieldRights: { move: { writes } as never } },
  });
  const post = base.aggregate('post', {
    owner: 'author',
    fields: {
      author: ref(base.user),
      text: line(20),
      kind: choice('note', 'task'),
      open: flag(),
      tags: set(line(10), 3),
      status: states('new', 'old'),
    },
    events: { made: { creates: ['text', 'kind', 'open', 'tags'] }, aged: { sets: { status: 'old' } } },
    commands: { make: { emits: 'made' }, age: { emits: 'aged' } },
    rights: { read: { clerk: condition as never } },
  });
  return () => assemble(base, [post] as never);
};

test.each<[string, object, string]>([
  [
    'a field that users do not have',
    { text: { caller: 'room' } },
    'post: a condition compares text with the caller’s room, which users do not have: use one of role, desk, story, level, mentor,',
  ],
  ['a personal field', { text: { caller: 'phone' } }, 'the caller’s phone, which is personal, so only'],
  [
    'a list',
    { tags: { caller: 'tags' } },
    'the caller’s tags, but a field of the type set cannot be compared: compare texts,',
  ],
  [
    'a long text',
    { text: { caller: 'story' } },
    'the caller’s story, which may be longer than 200 characters: lower its maximum.',
  ],
  [
    'another type',
    { text: { caller: 'level' } },
    'the caller’s level, which is never equal to it: compare fields of the same type.',
  ],
  [
    'a reference to something else',
    { author: { caller: 'mentor' } },
    'the caller’s mentor, which is never equal to it:',
  ],
])('%s is refused', (_, condition, message) => expect(withRight(condition)).toThrow(message));

test('an attribute that every user can change for themselves is refused', () =>
  expect(withRight({ text: { caller: 'desk' } }, ['level'])).toThrow(
    'user: rights compare the caller’s desk, which all users can change for themselves: declare who may change it, with a right in `fieldRights` that `writes` it.',
  ));

test('a field of users is an attribute only if a condition compares it', () => {
  expect(attributesOf(withRight({ text: { caller: 'desk' } })()).map(({ name }) => name)).toEqual(['desk']);
  expect(attributesOf(publishing)).toEqual([]);
});

test('the condition has a readable text', () => {
  const { report, remark } = departments.kinds;
  const said = (kind: typeof report, condition: object | string) =>
    expressionWords(resolve(departments, kind as never, condition));
  expect(said(report, 'ours')).toBe('its department is the caller’s department');
  expect(said(report, { ours: false })).toBe('its department is not the caller’s department');
  expect(said(remark, { report: 'ours' })).toBe('the department of its report is the caller’s department');
});

test('a webhook’s deliveries are withheld by the attributes of its owner', () => {
  const scopes = ['read:reports', 'read:remarks'];
  const withheld = (department: string | null) =>
    withheldOf(
      departments,
      { eventTypes: ['report.drafted', 'report.filed'], scopes },
      { role: 'member', attributes: { department } },
    );
  expect(withheld('mill')).toEqual([]);
  expect(withheld(null)).toEqual([
    {
      eventType: 'report.drafted',
      reason:
        'Not sent: neither the role of the owner, member, nor their department allows reading these events.',
    },
  ]);
});
