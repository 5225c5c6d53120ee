import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import {
  choice,
  type Fields,
  instant,
  integer,
  line,
  list,
  markdown,
  ref,
  set,
  states,
  word,
} from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

type Tried = { readonly fields?: Fields; readonly events?: object; readonly more?: object };

const assembled = ({ fields = {}, events = {}, more = {} }: Tried) =>
  assemble(base, [
    aggregate('note', {
      owner: 'clerk',
      fields: { clerk: ref(user), title: line(9), status: states('open', 'done'), ...fields },
      events: { made: { creates: ['title'] }, finished: { sets: { status: 'done' } }, ...events },
      commands: { make: { emits: 'made' }, finish: { emits: 'finished' } },
      rights: { read: { anyone: true } },
      ...more,
    } as never),
  ] as never);

const REQUIRED =
  'note: the field size is required, but the event made, which creates a note, does not set it: add it to that event, give it a default, or make it optional().';

test.each<readonly [what: string, tried: Tried]>([
  ['that is optional', { fields: { size: integer(0, 9).optional() } }],
  ['that has a default', { fields: { size: integer(0, 9).default(0) } }],
  [
    'that the form gives',
    { fields: { size: integer(0, 9) }, events: { made: { creates: ['title', 'size'] } } },
  ],
  [
    'that the declaration gives',
    { fields: { size: integer(0, 9) }, events: { made: { creates: ['title'], sets: { size: 9 } } } },
  ],
  [
    'that the decision gives',
    {
      fields: { size: integer(0, 9) },
      events: { made: { creates: ['title'], computes: ['size'] } },
      more: {
        commands: {
          make: { emits: ['made'], decide: () => [['made', { size: 1 }]] },
          finish: { emits: 'finished' },
        },
      },
    },
  ],
  [
    'that an earlier version of the event did not give',
    {
      fields: { size: integer(0, 9) },
      events: {
        made: {
          creates: ['title', 'size'],
          upcasts: [(data: object) => ({ ...data, size: 0 })],
        },
      },
    },
  ],
  [
    'that is the moment, or the caller',
    {
      fields: { madeAt: instant(), maker: ref(user).optional(), checker: ref(user) },
      events: { made: { creates: ['title'], sets: { madeAt: 'now', maker: null, checker: 'caller' } } },
    },
  ],
])('a field %s is accepted', (_, tried) => {
  expect(() => assembled(tried)).not.toThrow();
});

test.each<Tried>([
  { fields: { size: integer(0, 9) } },
  { fields: { size: integer(0, 9) }, events: { sized: { changes: ['size'] } } },
  { fields: { size: integer(0, 9) }, events: { copied: { creates: ['title', 'size'] } } },
])('a required field without a value is refused (%#)', (tried) => {
  expect(() => assembled(tried)).toThrow(new StartRefused(REQUIRED));
});

test.each(
  Object.entries<Tried>({
    'note: no event creates it: declare one with its initial fields in `creates`.': {
      fields: { title: line(9).optional() },
      events: { made: {} },
    },
    'note: the event gone ends the aggregate and sets fields, which nobody can read afterwards: remove `sets` or `ends`.':
      {
        events: { gone: { ends: true, sets: { status: 'done' } } },
      },
    'note: the event made has `creates` and `changes`, but an event can have only one of them: declare another event for the other.':
      { events: { made: { creates: ['title'], changes: ['title'] } } },
    'note: the event finished sets size to 7, which the field does not accept: use a value within its limits.':
      {
        fields: { size: integer(0, 3).optional() },
        events: { finished: { sets: { size: 7 } } },
      },
    'note: the event finished sets title to "much too long", which the field does not accept: use a value within its limits.':
      { events: { finished: { sets: { title: 'much too long' } } } },
    'note: the event finished sets status to "shut", which the field does not accept: use a value within its limits.':
      { events: { finished: { sets: { status: 'shut' } } } },
    'note: the event finished sets title to null, but the field is required: make it optional(), or set a value.':
      {
        events: { finished: { sets: { title: null } } },
      },
    'note: the event finished sets title to `now`, but the field is not an instant(): use one of its values.':
      {
        events: { finished: { sets: { title: 'now' } } },
      },
    'note: the event finished sets title to `caller`, but the field does not refer to a user: use one of its values.':
      {
        events: { finished: { sets: { title: 'caller' } } },
      },
    'note: the event finished sets sum, which is not a field that events can set: use another field.': {
      events: { finished: { sets: { sum: 7 } } },
    },
    'note: the field size has the default 9, which it does not accept: use a value within its limits.': {
      fields: { size: integer(0, 3).default(9) },
    },
    'note: the field code has the default "b", which it does not accept: use a value within its limits.': {
      fields: { code: word(/^a$/, 'Must be a.').default('b') },
    },
    'note: the field kind has the default "blue", which it does not accept: use a value within its limits.': {
      fields: { kind: choice('red', 'green').default('blue' as never) },
    },
    'note: the field rows.size has the default 9, which it does not accept: use a value within its limits.': {
      fields: { rows: list({ size: integer(0, 3).default(9) }, { max: 3 }) },
    },
    'note: the field size accepts numbers from 9 to 3, which is an empty range: put the smaller limit first.':
      {
        fields: { size: integer(9, 3).optional() },
      },
    'note: the field text allows at most 0 characters: use a whole number of at least 1.': {
      fields: { text: line(0).optional() },
    },
    'note: the field text allows at most 1.5 characters: use a whole number of at least 1.': {
      fields: { text: markdown(1.5).optional() },
    },
    'note: the field tags allows at most 0 values: use a whole number of at least 1.': {
      fields: { tags: set(line(9), 0).default([]) },
    },
    'note: the field kind has no words: list the words that it accepts.': {
      fields: { kind: (choice as () => never)() },
    },
  }),
)('refused: %s', (says, tried) => {
  expect(() => assembled(tried)).toThrow(new StartRefused(says));
});

test.each<readonly [how: string, event: object, more: object]>([
  ['a form', { changes: ['title', 'clerk'] }, {}],
  ['a constant', { sets: { clerk: 'caller' } }, {}],
  ['a decision', { computes: ['clerk'] }, {}],
  ['an event of an item', { adds: 'rows', also: { clerk: 'caller' } }, {}],
])('a change of the owner by %s is refused, with a solution', (_, moved, more) => {
  const fields = { rows: list({ size: integer(0, 9) }, { max: 3 }) };
  expect(() => assembled({ fields, events: { moved }, more })).toThrow(
    'note: the event moved changes clerk, which is the owner and never changes: use another reference, or end the note and create it again.',
  );
});
