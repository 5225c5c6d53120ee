import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { line, ref } from '../declare/fields.ts';
import { eventReferencesOf } from './event-references.ts';

const base = domain({ name: 'teams', roles: ['member'] });
const team = base.aggregate('teamRoom', {
  owner: 'lead',
  fields: { lead: ref(base.user) },
  events: { formed: { creates: [] } },
  commands: { form: { emits: 'formed' } },
  rights: { read: { anyone: true } },
});
const note = base.aggregate('note', {
  parent: 'room',
  owner: 'writer',
  fields: { room: ref(team), writer: ref(base.user), text: line(10) },
  events: { written: { creates: ['text'] } },
  commands: { jot: { emits: 'written' } },
  rights: { read: { anyone: true } },
});

const told = (all: ReturnType<typeof eventReferencesOf>) =>
  all.map(({ name, kind, of, under }) => [
    name,
    kind,
    [...of].map(([child, keys]) => [child, ...keys]),
    under,
  ]);

test('events can be filtered by parents, by owners, and by users', () => {
  expect(told(eventReferencesOf(publishing))).toEqual([
    ['article', 'article', [['comment', 'articleId']], ['comments']],
    [
      'author',
      undefined,
      [
        ['article', 'authorId'],
        ['comment', 'authorId'],
      ],
      [],
    ],
    ['user', 'user', [], []],
  ]);
  expect(told(eventReferencesOf(assemble(base, [team, note])))).toEqual([
    ['teamRoom', 'teamRoom', [['note', 'roomId']], ['notes']],
    ['lead', undefined, [['teamRoom', 'leadId']], []],
    ['writer', undefined, [['note', 'writerId']], []],
    ['user', 'user', [], []],
  ]);
});
