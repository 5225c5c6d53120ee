import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { StartRefused } from '../base/start-refused.ts';
import { rulesOf } from '../decide/given.ts';
import { domain } from '../declare/domain.ts';
import { line, list, ref } from '../declare/fields.ts';

const { aggregate, user, ...base } = domain({ name: 'tried', roles: ['clerk'] });

const team = aggregate('team', {
  fields: { name: line(9) },
  events: { opened: { creates: ['name'] }, closed: { ends: true }, dissolved: { ends: true } },
  commands: { open: { emits: 'opened' }, close: { emits: 'closed' }, dissolve: { emits: 'dissolved' } },
  rights: { read: { anyone: true } },
});
const ticket = aggregate('ticket', {
  fields: {
    team: ref(team, { gone: 'null' }),
    next: ref('ticket', { gone: 'null' }),
    notes: list({ text: line(9), author: ref(user, { gone: 'null' }) }, { max: 9 }),
  },
  events: {
    opened: { creates: ['team', 'next'] },
    noted: { adds: 'notes' },
    changed: { updates: 'notes' },
    closed: { ends: true },
  },
  commands: {
    open: { emits: 'opened' },
    note: { emits: 'noted' },
    change: { emits: 'changed' },
    close: { emits: 'closed' },
  },
  rights: { read: { anyone: true } },
});
const tried = assemble({ ...base, user }, [team, ticket]);
const { given } = rulesOf(tried);
const kind = tried.kinds.ticket;

test('a reference with `gone` has an event, an internal command, and a reaction to each end of its target', () => {
  expect(Object.keys(kind?.events ?? {})).toEqual([
    ...['opened', 'noted', 'changed', 'closed'],
    ...['teamGone', 'nextGone', 'notesAuthorGone'],
  ]);
  expect(kind?.events.teamGone?.says).toBe('The team ended, so that the reference to it became null.');
  for (const name of ['teamGone', 'nextGone', 'notesAuthorGone'])
    expect(kind?.commands[name]).toMatchObject({ internal: true, form: [], itemForm: [] });
  expect(kind?.reactions).toEqual({
    team: { closed: { run: 'teamGone' }, dissolved: { run: 'teamGone' } },
    next: { closed: { run: 'nextGone' } },
    'notes.author': { deleted: { run: 'notesAuthorGone' } },
  });
});

test('the event empties the reference, and forms may still set it', () => {
  expect(given(ticket, ['opened', { teamId: 3, nextId: null }], 'teamGone').state).toMatchObject({
    fields: { team: null, next: null },
  });
  expect(kind?.commands.note?.itemForm).toEqual(['text', 'author']);
  expect(kind?.commands.change?.itemForm).toEqual(['text', 'author']);
  const noted = ['noted', { noteId: 1, text: 'a', authorId: 5 }] as const;
  const gone = ['notesAuthorGone', { noteId: 1, authorId: null }] as const;
  const opened = ['opened', { teamId: null, nextId: null }] as const;
  expect(given(ticket, opened, noted, gone).state).toMatchObject({
    fields: { notes: [{ text: 'a', author: null }] },
  });
});

const of = (fields: object, more: object = {}) =>
  assemble({ ...base, user }, [
    team,
    aggregate('note', {
      fields: { title: line(9), ...fields },
      events: { made: { creates: ['title'] } },
      commands: { make: { emits: 'made' } },
      rights: { read: { anyone: true } },
      ...more,
    } as never),
  ] as never);

test.each(
  Object.entries<() => unknown>({
    'note: the reference self has `gone`, but no event ends a note: use `optional()` instead, or declare its end.':
      () => of({ self: ref('note', { gone: 'null' }) }),
    "note: the reference team has `gone` with keep: write 'null', or remove it.": () =>
      of({ team: ref(team, { gone: 'keep' } as never) }),
    'note: the event teamGone is reserved for `gone` of team: give yours another name.': () =>
      of(
        { team: ref(team, { gone: 'null' }) },
        { events: { made: { creates: ['title'] }, teamGone: { sets: { team: null } } } },
      ),
    'note: the command teamGone is reserved for `gone` of team: give yours another name.': () =>
      of(
        { team: ref(team, { gone: 'null' }) },
        { commands: { make: { emits: 'made' }, teamGone: { emits: 'made' } } },
      ),
    'note: team becomes null when its target ends, but a reaction follows team.closed too: remove `gone` or the reaction.':
      () =>
        of({ team: ref(team, { gone: 'null' }) }, { reactions: { team: { closed: { run: 'teamGone' } } } }),
    'note: the reference owner has `gone`, but every aggregate keeps its owner, and always has a parent: remove it, and let a reaction end the aggregate.':
      () => of({ owner: ref(user, { gone: 'null' }) }, { owner: 'owner' }),
    'note: the reference members.person has `gone`, but it is the key of its items: remove it, and let a reaction remove the item.':
      () =>
        of(
          { members: list({ person: ref(user, { gone: 'null' }) }, { max: 3, key: 'person' }) },
          { events: { made: { creates: ['title'] }, added: { adds: 'members' } } },
        ),
    'user: the reference team has `gone`, but nothing changes users when others end: use `optional()` instead.':
      () => {
        const other = domain({
          name: 'tried',
          roles: ['clerk'],
          user: { fields: { team: ref('team', { gone: 'null' }) } },
        });
        return assemble(other, [other.aggregate('team', team.declaration as never)] as never);
      },
  }),
)('%s', (sentence, assembled) => expect(assembled).toThrow(new StartRefused(sentence)));
