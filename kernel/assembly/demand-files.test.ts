import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { type Fields, line, list, picture } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });

type Declared = { readonly fields: Fields; readonly events?: object; readonly commands?: object };

const declared = ({ fields, events, commands }: Declared) =>
  assemble(base, [
    base.aggregate('note', {
      fields: { title: line(9), ...fields },
      events: { made: { creates: ['title'] }, ...events },
      commands: { make: { emits: 'made' }, ...commands },
      rights: { read: { anyone: true } },
    } as never),
  ] as never);

const photo = picture().optional();
const changed = { events: { changed: { changes: ['photo'] } }, commands: { change: { emits: 'changed' } } };
const rows = { fields: { rows: list({ photo }, { max: 3 }) } };
const added = { events: { rowAdded: { adds: 'rows' } }, commands: { addRow: { emits: 'rowAdded' } } };

test.each([
  ['by no event', { fields: { photo } }],
  ['only by a creation', { fields: { photo }, events: { made: { creates: ['title', 'photo'] } } }],
  ['elsewhere, by no event', { fields: { photo: picture({ external: true }).optional() } }],
])('a picture that is filled %s is refused', (_, said) => {
  expect(() => declared(said)).toThrow(
    'note: nothing can give photo its file: name it in `changes` of an event that a command emits.',
  );
});

test('one beside an edit names the command whose event lacks it', () => {
  expect(() =>
    declared({
      fields: { photo },
      events: { renamed: { changes: ['title'] } },
      commands: { rename: { emits: 'renamed' } },
    }),
  ).toThrow('of an event that the command rename emits.');
});

test('one of an item that no command changes is refused', () => {
  expect(() => declared({ ...rows, ...added })).toThrow(
    "note: nothing can give rows.photo its file: add an event with `updates: 'rows'` and a command that emits it.",
  );
});

test.each([
  ['of an edit', { fields: { photo }, ...changed }],
  [
    'elsewhere, of a creation',
    {
      fields: { photo: picture({ external: true }) },
      events: { made: { creates: ['title', 'photo'] } },
    },
  ],
  [
    'of an item that a command changes',
    {
      ...rows,
      events: { ...added.events, rowChanged: { updates: 'rows' } },
      commands: { ...added.commands, changeRow: { emits: 'rowChanged' } },
    },
  ],
])('one %s is accepted', (_, said) => {
  expect(() => declared(said)).not.toThrow();
});
