// Over 200 lines, because it is one table: each refused view with its message.
import { expect, test } from 'vitest';
import { domain } from '../declare/domain.ts';
import {
  choice,
  date,
  instant,
  integer,
  line,
  list,
  month,
  ref,
  set,
  states,
  week,
  word,
} from '../declare/fields.ts';
import { avg, latest, min, sum } from '../declare/view.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user, view } = base;

const note = aggregate('note', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    title: line(9),
    remark: line(300).optional().personal(),
    code: word(/^[a-z]+$/, 'Letters.'),
    tags: set(line(9), 3).default([]),
    rows: list({ amount: integer(1, 9) }, { max: 3 }),
    amount: integer(1, 9),
    topic: choice('one', 'other'),
    status: states('open', 'done'),
    doneAt: instant().optional(),
  },
  derived: { total: { sum: 'rows.amount' } },
  events: {
    made: { creates: ['title', 'remark', 'code', 'tags', 'amount', 'topic'] },
    edited: { changes: ['title', 'amount', 'topic'] },
    retitled: { changes: ['title'] },
    added: { adds: 'rows' },
    finished: { sets: { status: 'done', doneAt: 'now' } },
    closed: { carries: ['amount', 'topic', 'title', 'total'] },
    gone: { ends: true },
  },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true } },
});

const RIGHT = {
  of: [note],
  key: { clerk: ref(user), topic: choice('one', 'other') },
  values: { notes: sum(), amount: sum(), doneAt: latest(instant()), title: latest(line(9)) },
  from: {
    note: {
      by: { clerk: 'clerk', topic: 'topic' },
      on: {
        made: { gives: { notes: 1, amount: 'amount' } },
        edited: { changes: { amount: 'amount', title: 'title' } },
        finished: { changes: { doneAt: 'now' }, adds: { notes: -1 } },
        closed: { gives: { amount: '-total', title: 'title' } },
      },
    },
  },
  read: { anyone: true },
};

type Tried = { readonly name?: string; readonly view?: object; readonly by?: object; readonly on?: object };
const tried =
  ({ name = 'sums', view: spec = {}, by = {}, on = {} }: Tried) =>
  () =>
    assemble(
      base,
      [note],
      [
        view(name, {
          ...RIGHT,
          from: { note: { by: { ...RIGHT.from.note.by, ...by }, on: { ...RIGHT.from.note.on, ...on } } },
          ...spec,
        } as never),
      ],
    );

test('valid views are accepted', () => {
  expect(tried({})).not.toThrow();
  expect(
    tried({
      view: { key: { label: line(200) } },
      by: { label: 'title', clerk: undefined },
      on: { edited: { gives: null } },
    }),
  ).not.toThrow();
  expect(tried({ on: { retitled: { changes: { title: 'title' } } } })).not.toThrow();
});

const PERSONAL =
  'is personal, but views cannot contain personal data, because it would survive the erasure of the person: use the reference to the person instead.';

test.each(
  Object.entries<() => unknown>({
    'sums: its key has no parts: name the fields that identify a row.': tried({ view: { key: {} } }),
    'sums: it has no values: give it a sum(), an avg(), a latest(), a min() or a max().': tried({
      view: { values: {} },
    }),
    'sums: the part tags of its key has a type that keys cannot have: use a reference, a choice, a number, a flag, a date, a week, a month or a short text.':
      tried({ view: { key: { tags: set(line(9), 3) } } }),
    'sums: the part code of its key may be longer than 200 characters: use a `line` with a lower maximum.':
      tried({ view: { key: { code: word(/^[a-z]+$/, 'Letters.') } } }),
    'sums: the part folder of its key refers to folder, which is not in the domain: add it to the domain.':
      tried({ view: { key: { folder: ref('folder') } } }),
    [`sums: the part name of its key ${PERSONAL}`]: tried({ view: { key: { name: line(9).personal() } } }),
    [`sums: from note, remark ${PERSONAL}`]: tried({
      view: { key: { remark: line(200) } },
      by: { remark: 'remark' },
    }),
    "sums: from note, clerk comes from title, which is not a field of its type: use a field of its type, or 'id'.":
      tried({
        by: { clerk: 'title' },
      }),
    'sums: from note, topic has no field in `by`: use a field of its type.': tried({
      by: { topic: undefined },
    }),
    'sums: from note, amount comes from total, which is derived from items and not in any event: use another field.':
      tried({
        view: { key: { amount: integer(0, 9) }, values: { notes: sum() } },
        by: { amount: 'total' },
      }),
    'sums: from note, no event gives a share, so nothing is ever counted: declare `gives`.': tried({
      on: { made: { changes: { notes: 1 } }, closed: { changes: { notes: 1 } } },
    }),
    'sums: from note, maed is not an event of note: use one of made, edited, retitled, added, finished, closed, gone.':
      tried({ on: { maed: { gives: { notes: 1 } } } }),
    'sums: from note, the event gone ends the note, which already ends its share: remove it from the view.':
      tried({
        on: { gone: { gives: null } },
      }),
    'sums: from note, the event finished does not change a share: remove it, or declare what it `gives`, `changes` or `adds`.':
      tried({ on: { finished: { changes: {} } } }),
    "sums: from note, the event finished gives a share, but does not contain topic, from which topic comes: add it with `carries: ['topic']`.":
      tried({ on: { finished: { gives: { notes: 1 } } } }),
    "sums: from note, the event edited gives a share, but does not contain topic, from which topic comes: add it with `carries: ['topic']`.":
      tried({ on: { edited: { gives: { notes: 1 } } } }),
    'sums: from note, the event made sets noets, which is not a value of the view: use one of notes, amount, doneAt, title.':
      tried({ on: { made: { gives: { noets: 1 } } } }),
    'sums: from note, the event finished both changes notes and adds to it: declare one of them.': tried({
      on: { finished: { changes: { notes: 1 }, adds: { notes: 1 } } },
    }),
    'sums: from note, the event made sets amount to 0.5: use a whole number.': tried({
      on: { made: { gives: { amount: 0.5 } } },
    }),
    'sums: from note, the event made sets title to now: use a whole number or an instant.': tried({
      on: { made: { gives: { title: 'now' } } },
    }),
    'sums: from note, the event made takes amount from title, which is not a number in note: use another field.':
      tried({ on: { made: { gives: { amount: 'title' } } } }),
    'sums: from note, the event made takes doneAt from title, which is not a field of its type in note: use another field.':
      tried({ on: { made: { gives: { doneAt: 'title' } } } }),
    [`sums: from note, the event made takes title from remark, which ${PERSONAL}`]: tried({
      on: { made: { gives: { title: 'remark' } } },
    }),
    "sums: from note, the event finished takes amount from amount, which it does not always contain: add it with `carries: ['amount']`.":
      tried({ on: { finished: { changes: { amount: 'amount' } } } }),
    'sums: the latest value tags is a set: use a text, a word, a number, an instant or a reference.': tried({
      view: { values: { tags: latest(set(line(9), 3)) } },
    }),
    [`sums: the latest value title ${PERSONAL}`]: tried({
      view: { values: { title: latest(line(9).personal()) } },
    }),
    'sums: the column clerk_id belongs to two of its key parts or values: give one of them another name.':
      tried({
        view: { values: { clerkId: sum() } },
      }),
    'sums: the column title_position is reserved for the latest() title: give that part or value another name.':
      tried({
        view: { values: { title: latest(line(9)), titlePosition: sum() } },
      }),
    'sums: the column load_count is reserved for the avg() load: give that part or value another name.':
      tried({ view: { values: { load: avg(), loadCount: sum() } } }),
    'sums: title is the min() of a text: use a number, a date or an instant.': tried({
      view: { values: { title: min(line(9)) } },
    }),
    'sums: from note, the event finished adds to load, which is no sum(): use `changes` to set it.': tried({
      view: { values: { ...RIGHT.values, load: avg() } },
      on: { finished: { adds: { load: 1 } } },
    }),
    "sums: from note, made comes from title, which is no date or instant of note: use one of its dates or instants, or 'now'.":
      tried({ view: { key: { made: month() } }, by: { made: 'title' } }),
    "sums: from note, made has no field in `by`: use one of its dates or instants, or 'now'.": tried({
      view: { key: { made: week() } },
      by: { made: '' },
    }),
    'sums: from note, made comes from now, which is not a field of its type: use a field of its type.': tried(
      {
        view: { key: { made: line(9) } },
        by: { made: 'now' },
      },
    ),
    "sums: from note, the event edited gives a share, but does not contain doneAt, from which made comes: add it with `carries: ['doneAt']`.":
      tried({
        view: { key: { made: date() } },
        by: { made: 'doneAt' },
        on: { edited: { gives: { notes: 1 } } },
      }),
    'sums: shares is reserved for the number of aggregates with a share: give that part or value another name.':
      tried({
        view: { values: { shares: sum() } },
      }),
    'sums: a condition uses title, which is not one of its fields, lists and facts: use one of clerk, topic.':
      tried({
        view: { read: { clerk: { title: 'x' } } },
      }),
    'sums: it is built from memo, which is not in the domain: add it to the domain.': tried({
      view: { of: [{ kind: 'memo' }], from: { memo: RIGHT.from.note } },
    }),
    'sums: `of` does not list the aggregates from whose events it is built: name them.': tried({
      view: { of: note },
    }),
    'sums: it is made `of` user, but `from` does not have it: add it there.': tried({
      view: { of: [note, user] },
    }),
    'sums: `from` has note, but it is not made `of` it: add it there.': tried({ view: { of: [] } }),
    'sums: lists can be sorted by title, a text that does not fit into an index: limit it to 600 characters, or remove `sort()`.':
      tried({
        view: {
          values: {
            notes: sum(),
            amount: sum(),
            doneAt: latest(instant()),
            title: latest(line(700).sort()),
          },
        },
      }),
    'sums: lists can be sorted by code, a text that does not fit into an index: limit it to 600 characters, or remove `sort()`.':
      tried({ view: { values: { ...RIGHT.values, code: latest(word(/^[a-z]+$/, 'Letters.').sort()) } } }),
    'sums: the texts of its key may have 800 characters in total, but an index holds 600: use shorter texts.':
      tried({
        view: { key: Object.fromEntries(['one', 'two', 'three', 'four'].map((part) => [part, line(200)])) },
      }),
    [`sums: the column a${'_b'.repeat(29)} has more than 54 characters: give it another name.`]: tried({
      view: { values: { ...RIGHT.values, [`a${'B'.repeat(29)}`]: sum() } },
    }),
    'note: the name note already belongs to note: give it another name.': tried({ name: 'note' }),
    'notes: the table notes already belongs to note: give it another name.': tried({ name: 'notes' }),
    'select: select is reserved in SQL: give it another name.': tried({ name: 'select' }),
    'uploads: uploads is reserved: give it another name.': tried({ name: 'uploads' }),
    'Sums: Sums does not match ^[a-z][a-zA-Z0-9]{0,39}$: give it another name.': tried({ name: 'Sums' }),
    'sums: id is a field of every aggregate: give it another name.': tried({
      view: { values: { id: sum() } },
    }),
    'sums: limit is a parameter of every list: give it another name.': tried({
      view: { values: { limit: sum() } },
    }),
    [`${'a'.repeat(32)}: the table ${'a'.repeat(32)}_of_note has more than 38 characters: give it another name.`]:
      tried({ name: 'a'.repeat(32) }),
  }),
)('refused: %s', (says, declare) => {
  expect(declare).toThrow(says);
});

test('two views cannot have the same name', () => {
  const sums = view('sums', RIGHT as never);
  expect(() => assemble(base, [note], [sums, sums])).toThrow(
    'sums: the name sums already belongs to sums: give it another name.',
  );
});
