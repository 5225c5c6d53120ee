import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import { flag, instant, line, list, ref, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

type More = { readonly commands?: object; readonly fieldRights?: object; readonly key?: string };

const declared = (events: object, { commands, fieldRights, key }: More = {}) =>
  assemble(base, [
    aggregate('note', {
      owner: 'clerk',
      fields: {
        clerk: ref(user),
        title: line(9),
        rows: list(
          {
            text: line(9).default('x'),
            who: ref(user).optional(),
            at: instant().optional(),
            hidden: flag().default(false),
            state: states('new', 'old'),
          },
          { max: 3, key: key as never },
        ),
        lines: list({ text: line(9), by: ref(user) }, { max: 3 }),
        status: states('open', 'shut'),
      },
      events: { made: { creates: ['title'] }, ...events },
      commands: { make: { emits: 'made' }, ...commands },
      rights: { read: { anyone: true }, write: { clerk: true } },
      fieldRights,
    } as never),
  ] as never);

test('several commands add, change and remove items of one list', () => {
  const { kinds } = declared(
    {
      added: { adds: 'rows' },
      lent: { adds: 'rows', sets: { state: 'old', who: 'caller', at: 'now' }, also: { status: 'shut' } },
      changed: { updates: 'rows' },
      aged: { updates: 'rows', sets: { state: 'old' } },
      removed: { removes: 'rows' },
      dropped: { removes: 'rows' },
    },
    {
      commands: {
        addRow: { emits: 'added' },
        lend: { emits: 'lent' },
        changeRow: { emits: 'changed' },
        ageRow: { emits: 'aged' },
        removeRow: { emits: 'removed' },
        dropRow: { emits: 'dropped' },
      },
    },
  );
  expect(Object.values(kinds.note?.commands ?? {}).map(({ name, verb }) => [name, verb])).toEqual([
    ['make', undefined],
    ['addRow', undefined],
    ['lend', 'lend'],
    ['changeRow', undefined],
    ['ageRow', 'age'],
    ['removeRow', undefined],
    ['dropRow', 'drop'],
  ]);
});

const hidden = { readHidden: { items: { rows: { hidden: true } }, clerk: true } };

test.each(
  Object.entries<() => unknown>({
    'note: the event made has `also`, which is for events of items: remove it.': () =>
      declared({ made: { creates: ['title'], also: { status: 'shut' } } }),
    'note: the event made has `fields`, which is for events of items: remove it.': () =>
      declared({ made: { creates: ['title'], fields: [] } }),
    'note: the event gone `removes` a row, which sets no field of it: remove `sets`.': () =>
      declared({ gone: { removes: 'rows', sets: { state: 'old' } } }),
    'note: the event added has txt in `fields`, which is no field of the rows: use one of them.': () =>
      declared({ added: { adds: 'rows', fields: ['txt'] } }),
    'note: the event added has text in `fields`, the key, which every addition has: remove it.': () =>
      declared({ added: { adds: 'rows', fields: ['text'] } }, { key: 'text' }),
    'note: the event added has who in `fields` and in `sets`: keep it in one of them.': () =>
      declared({ added: { adds: 'rows', fields: ['who'], sets: { who: 'caller' } } }),
    'note: the event added has state in `fields`, a state, which only `sets` changes: remove it, or make it a choice().':
      () => declared({ added: { adds: 'rows', fields: ['state'] } }),
    'note: the event shown has hidden in `fields`, which decides who may read the item and never changes: remove it.':
      () => declared({ shown: { updates: 'rows', fields: ['hidden'] } }, { fieldRights: hidden }),
    'note: the event shown sets hidden, which decides who may read the item and never changes: let the addition set it.':
      () => declared({ shown: { updates: 'rows', sets: { hidden: false } } }, { fieldRights: hidden }),
    'note: the event idle changes no field of a row: name some in `fields` or in `sets`.': () =>
      declared({ idle: { updates: 'rows', fields: [] } }),
    'note: the event added sets status, which is no field of the rows: use a field of the item, and `also` for fields of the aggregate.':
      () => declared({ added: { adds: 'rows', sets: { status: 'shut' } } }),
    'note: the event added sets at to `caller`, but the field does not refer to a user: use one of its values.':
      () => declared({ added: { adds: 'rows', sets: { at: 'caller' } } }),
    'note: the event added sets state to "done", which the field does not accept: use a value within its limits.':
      () => declared({ added: { adds: 'rows', sets: { state: 'done' } } }),
    'note: the event added sets hidden to null, but the field is required: make it optional(), or set a value.':
      () => declared({ added: { adds: 'rows', sets: { hidden: null } } }),
    'note: the event added sets stat, which is not a field that events can set': () =>
      declared({ added: { adds: 'rows', also: { stat: 'shut' } } }),
    'note: the event written adds a line without by: name it in `fields` or in `sets`, give it a default, or make it optional().':
      () => declared({ written: { adds: 'lines', fields: ['text'] } }),
    'note: the command lend has `whenItem`, but changes no item that is there: use `when`.': () =>
      declared(
        { lent: { adds: 'rows' } },
        { commands: { lend: { emits: 'lent', whenItem: { state: 'new' } } } },
      ),
    'note.rows: a condition uses sate, which is not one of its fields': () =>
      declared(
        { aged: { updates: 'rows', sets: { state: 'old' } } },
        { commands: { age: { emits: 'aged', whenItem: { sate: 'new' } } } },
      ),
    'note: a condition on the rows uses the target of who, which is not read for items': () =>
      declared(
        { aged: { updates: 'rows', sets: { state: 'old' } } },
        { commands: { age: { emits: 'aged', whenItem: { who: { name: 'Ada' } } } } },
      ),
    'note: the command lend emits events of rows and of lines: let it change items of one list only.': () =>
      declared(
        { lent: { adds: 'rows' }, lined: { adds: 'lines' } },
        { commands: { lend: { emits: ['lent', 'lined'], decide: () => ['lent'] } } },
      ),
    'note: the command lend emits gone, which needs the id or the place of an item that its form lacks: use another command.':
      () =>
        declared(
          { lent: { adds: 'rows' }, gone: { removes: 'rows' } },
          { commands: { lend: { emits: ['lent', 'gone'], decide: () => ['lent'] } } },
        ),
    'note: the command age emits renamed, which takes title from the form, but the form is that of aged: let it set or compute that field.':
      () =>
        declared(
          { aged: { updates: 'rows', sets: { state: 'old' } }, renamed: { changes: ['title'] } },
          { commands: { age: { emits: ['aged', 'renamed'], decide: () => ['aged'] } } },
        ),
    'note: the event rated computes rate, which is no field of the rows: use one of them.': () =>
      declared({ rated: { updates: 'rows', computes: ['rate'] } }),
    'note: the event rated computes at, which it also sets or takes from the form: keep one of them.': () =>
      declared({ rated: { updates: 'rows', computes: ['at'], sets: { at: 'now' } } }),
    'note: the event shown computes hidden, which decides who may read the item: let the addition set it, or name it in `fields` of the addition.':
      () => declared({ shown: { updates: 'rows', computes: ['hidden'] } }, { fieldRights: hidden }),
    'note: the event written sets by to `caller`, but an internal command, which has no caller, emits it: make the field optional().':
      () =>
        declared(
          { written: { adds: 'lines', sets: { by: 'caller' } } },
          { commands: { jot: { emits: 'written', internal: true } } },
        ),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(says);
});
