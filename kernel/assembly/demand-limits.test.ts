import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { domain } from '../declare/domain.ts';
import { type Fields, flag, integer, line, list, ref, set, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

type Tried = {
  readonly fields?: Fields;
  readonly limits?: object;
  readonly events?: object;
  readonly more?: object;
};

const noteOf = ({ fields = {}, limits = {}, events = {}, more = {} }: Tried) =>
  aggregate('note', {
    owner: 'clerk',
    fields: {
      clerk: ref(user),
      title: line(9),
      tags: set(line(9), 3).default([]),
      rows: list({ amount: integer(1, 9) }, { max: 3 }),
      status: states('open', 'done'),
      ...fields,
    },
    derived: { total: { sum: 'rows.amount' } },
    events: {
      made: { creates: ['title', ...Object.keys(fields)] },
      added: { adds: 'rows' },
      finished: { sets: { status: 'done' } },
      ...events,
    },
    limits,
    commands: { make: { emits: 'made' }, add: { emits: 'added' }, finish: { emits: 'finished' } },
    rights: { read: { anyone: true } },
    ...more,
  } as never);

const limit = (spec: object): Tried => ({ limits: { few: { max: 3, says: 'Too many.', ...spec } } });

test('valid limits are accepted', () => {
  expect(() => assemble(base, [noteOf(limit({}))] as never)).not.toThrow();
  expect(() =>
    assemble(base, [noteOf(limit({ per: ['clerk', 'title'], when: { done: false } }))] as never),
  ).not.toThrow();
  expect(() =>
    assemble(base, [noteOf({ fields: { code: line(9).optional().unique() } })] as never),
  ).not.toThrow();
});

test.each(
  Object.entries<Tried>({
    'note: the limit few has the maximum 0: use a whole number from 1 to 100.': limit({ max: 0 }),
    'note: the limit few has the maximum 1.5: use a whole number from 1 to 100.': limit({ max: 1.5 }),
    'note: the limit few has the maximum 101: use a whole number from 1 to 100.': limit({ max: 101 }),
    ...Object.fromEntries(
      ['tags', 'rows', 'total', 'nowhere'].map((per) => [
        `note: the limit few is per ${per}, which has a type that limits cannot use: use a text, a number, a flag, a choice, an instant, a date or a reference.`,
        limit({ per }),
      ]),
    ),
    'note: the limit few depends on the target of clerk, which can change without the note: use only its own fields.':
      limit({ when: { clerk: { role: 'clerk' } } }),
    'note: the limit few depends on the caller, which can change without the note: use only its own fields.':
      limit({ when: 'own' }),
    'note: the limit few depends on the items of rows, which can change without the note: use only its own fields.':
      limit({ when: { rows: { some: { amount: 3 } } } }),
    'note: the limit few depends on the derived number total, which can change without the note: use only its own fields.':
      limit({ when: { total: { max: 3 } } }),
    'note: the limit few counts nothing, because its `when` is never true: remove the limit, or use another fact.':
      limit({ when: [] }),
    'note: the limit Few does not match ^[a-z][a-zA-Z0-9]{0,39}$: give it another name.': {
      limits: { Few: { max: 1, says: 'Full.' } },
    },
    'note: the limit code has the name of a unique field: give it another name.': {
      fields: { code: line(9).unique() },
      limits: { code: { max: 2, says: 'Full.' } },
    },
    'note: code is unique() and has a default, which only one note could have: remove one of them.': {
      fields: { code: line(9).default('none').unique() },
    },
    'note: code is unique(), and the event finished sets it to a constant, which only one note could have: remove one of them.':
      {
        fields: { code: line(9).unique() },
        events: { finished: { sets: { status: 'done', code: 'gone' } } },
      },
  }),
)('refused: %s', (says, tried) => {
  expect(() => assemble(base, [noteOf(tried)] as never)).toThrow(new StartRefused(says));
});

test.each([flag(), set(line(9), 3), states('red', 'blue')])(
  'unique() of what is nothing to count by is refused: %o',
  (field) => {
    const tried = { fields: { code: field.unique() }, events: { made: { creates: ['title'] } } };
    expect(() => assemble(base, [noteOf(tried)] as never)).toThrow(
      new StartRefused(
        'note: code is unique(), but not a text, a number, an instant, a date or a reference: declare a limit per code instead.',
      ),
    );
  },
);

test.each([{ sets: { status: 'done' } }, {}])('claim_abandoned as %j is refused', (event) => {
  expect(() =>
    assemble(base, [noteOf({ ...limit({}), events: { claim_abandoned: event } })] as never),
  ).toThrow(
    new StartRefused(
      'note: the event claim_abandoned is reserved for the release of claims: give yours another name.',
    ),
  );
});

test('an aggregate cannot have the name of the streams of limits', () => {
  const of = aggregate('limit', {
    fields: { title: line(9) },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  });
  expect(() => assemble(base, [of])).toThrow(
    'limit: the name limit is reserved for a stream of the kernel: give it another name.',
  );
});

test('removing the last limit requires to keep the event of abandoned claims', () => {
  const without = noteOf({ events: { claim_abandoned: { hidden: true } } });
  const { kinds } = assemble(base, [without] as never);
  expect(kinds.note?.events.claim_abandoned).toMatchObject({ hidden: true, spec: { claim: true } });
});
