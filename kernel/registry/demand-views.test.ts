// Over 200 lines, because it is one table: each refused view with its message.
import { expect, test } from 'vitest';
import { domain } from '#kernel/declare/domain.ts';
import { choice, instant, integer, line, list, ref, set, states, word } from '#kernel/declare/fields.ts';
import { count, latest, sum } from '#kernel/declare/view.ts';
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
    label: line(20).optional(),
    weight: integer(1, 9).optional(),
  },
  projects: {
    label: { by: { made: ({ title }) => title } },
    weight: { by: { retitled: ({ title = '' }) => title.length } },
  },
  derived: { total: { sum: 'rows.amount' } },
  events: {
    made: { creates: ['title', 'remark', 'code', 'tags', 'amount', 'topic'] },
    edited: { changes: ['title', 'amount', 'topic'] },
    retitled: { changes: ['title'] },
    added: { adds: 'rows' },
    finished: { sets: { status: 'done', doneAt: 'now' } },
    closed: { notes: true, carries: ['amount', 'topic', 'title', 'total'] },
    gone: { ends: true },
  },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true } },
});

const RIGHT = {
  of: [note],
  key: { clerk: ref(user), topic: choice('one', 'other') },
  values: { notes: count(), amount: sum(), doneAt: latest(instant()), title: latest(line(9)) },
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
  rights: { read: { anyone: true } },
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
      on: { edited: { ends: true } },
    }),
  ).not.toThrow();
  expect(tried({ on: { retitled: { changes: { title: 'title' } } } })).not.toThrow();
});

const PERSONAL =
  'is personal, and a view keeps nothing personal, because it would outlast the person: count by the reference to the person instead.';

test.each(
  Object.entries<() => unknown>({
    'sums: its key has no part: name what there is one row for.': tried({ view: { key: {} } }),
    'sums: it has no values: give it a count(), a sum() or a latest().': tried({ view: { values: {} } }),
    'sums: the part tags of its key is nothing to count by: use a reference, a choice, a number, true or false, or a short text.':
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
    "sums: from note, clerk is by title, which is no field of that kind: name one, or 'id'.": tried({
      by: { clerk: 'title' },
    }),
    'sums: from note, topic is by nothing, which is no field of that kind: name one.': tried({
      by: { topic: undefined },
    }),
    'sums: from note, amount is by total, which follows from items and is in no event: name a field of its own.':
      tried({
        view: { key: { amount: integer(0, 9) }, values: { notes: count() } },
        by: { amount: 'total' },
      }),
    'sums: from note, label is by label, which a projection makes, so that no event sets it: name a field that events set.':
      tried({ view: { key: { label: line(200) } }, by: { label: 'label' } }),
    'sums: from note, the event made takes amount from weight, which a projection makes, so that no event sets it: name a field that events set.':
      tried({ on: { made: { gives: { amount: 'weight' } } } }),
    'sums: from note, the event closed takes title from label, which a projection makes, so that no event sets it: name a field that events set.':
      tried({ on: { closed: { changes: { title: 'label' } } } }),
    'sums: from note, no event gives a share, so that nothing is ever counted: declare `gives`.': tried({
      on: { made: { changes: { notes: 1 } }, closed: { changes: { notes: 1 } } },
    }),
    'sums: from note, maed is no event of note: name one of made, edited, retitled, added, finished, closed, gone.':
      tried({ on: { maed: { gives: { notes: 1 } } } }),
    'sums: from note, the event gone ends the note, and so its share by itself: remove it.': tried({
      on: { gone: { ends: true } },
    }),
    'sums: from note, the event finished does nothing to a share: remove it, or declare what it `gives`, `changes` or `adds`.':
      tried({ on: { finished: { changes: {} } } }),
    "sums: from note, the event finished gives a share, and does not hold topic, by which topic is: add it by `carries: ['topic']`.":
      tried({ on: { finished: { gives: { notes: 1 } } } }),
    "sums: from note, the event edited gives a share, and does not hold topic, by which topic is: add it by `carries: ['topic']`.":
      tried({ on: { edited: { gives: { notes: 1 } } } }),
    'sums: from note, the event made says noets, which is no value of the view: name one of notes, amount, doneAt, title.':
      tried({ on: { made: { gives: { noets: 1 } } } }),
    'sums: from note, the event finished both changes notes and adds to it: declare one of them.': tried({
      on: { finished: { changes: { notes: 1 }, adds: { notes: 1 } } },
    }),
    'sums: from note, the event made says of notes, which counts, no whole number: use one, or make it a sum().':
      tried({ on: { made: { gives: { notes: 'amount' } } } }),
    'sums: from note, the event made gives amount 0.5: use a whole number.': tried({
      on: { made: { gives: { amount: 0.5 } } },
    }),
    'sums: from note, the event made gives title now: use a whole number or a moment.': tried({
      on: { made: { gives: { title: 'now' } } },
    }),
    'sums: from note, the event made takes amount from title, which is no number of note: name another.':
      tried({ on: { made: { gives: { amount: 'title' } } } }),
    'sums: from note, the event made takes doneAt from title, which is no such field of note: name another.':
      tried({ on: { made: { gives: { doneAt: 'title' } } } }),
    [`sums: from note, the event made takes title from remark, which ${PERSONAL}`]: tried({
      on: { made: { gives: { title: 'remark' } } },
    }),
    "sums: from note, the event finished takes amount from amount, which it does not always hold: add it by `carries: ['amount']`.":
      tried({ on: { finished: { changes: { amount: 'amount' } } } }),
    'sums: the latest value tags is a set: use one text, word, number, moment or reference.': tried({
      view: { values: { tags: latest(set(line(9), 3)) } },
    }),
    [`sums: the latest value title ${PERSONAL}`]: tried({
      view: { values: { title: latest(line(9).personal()) } },
    }),
    'sums: two of its parts and values have the column clerk_id: give one another name.': tried({
      view: { values: { clerkId: count() } },
    }),
    'sums: titlePosition is where the latest title comes from: give that value another name.': tried({
      view: { values: { title: latest(line(9)), titlePosition: count() } },
    }),
    'sums: shares is how many aggregates have a share: give that part or value another name.': tried({
      view: { values: { shares: count() } },
    }),
    'sums: the right to read it asks for title, which is no part of its key: ask for one of those.': tried({
      view: { rights: { read: { clerk: { title: 'x' } } } },
    }),
    'sums: it is made from memo, which is not in the domain: add it to the domain.': tried({
      view: { from: { memo: RIGHT.from.note } },
    }),
    'sums: lists are ordered by title, a text that does not fit into an index: limit it to 600 characters, or remove `sort()`.':
      tried({
        view: {
          values: {
            notes: count(),
            amount: sum(),
            doneAt: latest(instant()),
            title: latest(line(700).sort()),
          },
        },
      }),
    'sums: lists are ordered by code, a text that does not fit into an index: limit it to 600 characters, or remove `sort()`.':
      tried({ view: { values: { ...RIGHT.values, code: latest(word(/^[a-z]+$/, 'Letters.').sort()) } } }),
    'sums: the texts of its key may have 800 characters together, and an index holds 600: use shorter ones.':
      tried({
        view: { key: Object.fromEntries(['one', 'two', 'three', 'four'].map((part) => [part, line(200)])) },
      }),
    [`sums: the column a${'_b'.repeat(29)} has more than 54 characters: give it another name.`]: tried({
      view: { values: { ...RIGHT.values, [`a${'B'.repeat(29)}`]: count() } },
    }),
    'note: the name note is of note already: give it another name.': tried({ name: 'note' }),
    'notes: the table notes is of note already: give it another name.': tried({ name: 'notes' }),
    'select: select is reserved in SQL: give it another name.': tried({ name: 'select' }),
    "uploads: uploads is the kernel's: give it another name.": tried({ name: 'uploads' }),
    'Sums: Sums is not of the form ^[a-z][a-zA-Z0-9]{0,39}$: give it another name.': tried({ name: 'Sums' }),
    'sums: id is a field of every aggregate: give it another name.': tried({
      view: { values: { id: count() } },
    }),
    'sums: limit is a parameter of every list: give it another name.': tried({
      view: { values: { limit: count() } },
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
    'sums: the name sums is of sums already: give it another name.',
  );
});
