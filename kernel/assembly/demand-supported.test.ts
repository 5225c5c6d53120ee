import { expect, test } from 'vitest';
import { StartRefused } from '../base/start-refused.ts';
import { resolve } from '../conditions/expression.ts';
import { checkOf } from '../conditions/facts.ts';
import { rulesOf } from '../decide/given.ts';
import { domain } from '../declare/domain.ts';
import { date, type Fields, instant, integer, line, picture, ref, set, states } from '../declare/fields.ts';
import { assemble } from './assemble.ts';

const base = domain({ name: 'tried', roles: ['clerk'] });
const { aggregate, user } = base;

const claim = aggregate('claim', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    amount: integer(1, 100),
    status: states('open', 'shut'),
    decidedAt: instant().optional(),
  },
  events: { made: { creates: ['amount'] }, shut: { sets: { status: 'shut' } } },
  facts: { isSmall: { amount: { max: 10 } } },
  invariants: { isSmall: 'isSmall' },
  commands: { make: { emits: 'made' }, shut: { emits: 'shut' } },
  rights: { read: { anyone: { open: false } }, write: { clerk: 'own' } },
});
const tried = assemble(base, [claim]);

test('a duplicate aggregate is refused', () => {
  expect(() => assemble(base, [claim, claim])).toThrow('There are two aggregates named claim');
});

test('colliding rights are refused on assembly', () => {
  const of = (kind: string, fields: Fields, read: object) =>
    aggregate(kind as 'any', {
      fields,
      events: { made: { creates: Object.keys(fields) as never } },
      commands: { make: { emits: 'made' } },
      rights: { read: read as never },
    });
  const wing = of('wing', { name: line(9) }, { anyone: true });
  const room = of('room', { wing: ref(wing), wingName: line(9) }, { anyone: true });
  const desk = of(
    'desk',
    { room: ref(room) },
    { clerk: [{ room: { wing: { name: 'a' } } }, { room: { wingName: 'a' } }] },
  );
  expect(() => assemble(base, [wing, room, desk] as never)).toThrow(
    'desk: rights to read use roomWingName with two meanings: give one of the fields another name',
  );
});

test('an unsupported declaration is refused by name', () => {
  const note = aggregate('note', {
    fields: { title: line(9) },
    fieldRights: { writeTitle: { writes: ['title'] } },
    events: { made: { creates: ['title'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  });
  expect(() => assemble(base, [note])).toThrow(
    'note: the field right writeTitle has neither `reads` nor `items`: name the parts that it covers',
  );
});

test.each([
  ['search() of amount needs a text: remove it', integer(1, 9).search('A')],
  ['search() of amount needs a text: remove it', set(line(9), 3).search('B')],
  ['sort() of amount needs an instant(): remove it', integer(1, 9).sort()],
  ['sort() of amount needs an instant(): remove it', line(9).sort()],
  [
    'the date amount cannot show the text in `erased`: remove this',
    date().personal({ erased: '1900-01-01' }),
  ],
  ['sort() of amount needs an instant(): remove it', date().sort()],
  ['the upload amount is required, but no new note can have a file yet: make it optional().', picture()],
])('%s, and what to write instead', (what, amount) => {
  const note = aggregate('note', {
    fields: { amount },
    events: { made: { creates: ['amount'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  } as never);
  expect(() => assemble(base, [note] as never)).toThrow(`note: ${what}`);
});

test('a user field that sign-up would have to fill in is refused', () => {
  const added = domain({ name: 'tried', roles: ['clerk'], user: { fields: { department: line(80) } } });
  expect(() => assemble(added, [])).toThrow('user: department is not set when users sign up');
});

test.each([
  ['nobody', {}],
  ['what is no user', { owner: 'clerk', of: 'claim' }],
  ['a user whom events do not name', { owner: 'clerk', of: 'helper' }],
  ['a user who may be missing', { owner: 'guest' }],
])('a personal field of %s is refused', (_, { owner, of }: { owner?: string; of?: string }) => {
  const note = aggregate('note', {
    ...(owner !== undefined && { owner }),
    fields: {
      clerk: ref(user),
      helper: ref(user),
      guest: ref(user).optional(),
      claim: ref(claim),
      text: line(9).personal(of === undefined ? {} : { of }),
    },
    events: { made: { creates: ['text'] } },
    commands: { make: { emits: 'made' } },
    rights: { read: { anyone: true } },
  } as never);
  expect(() => assemble(base, [claim, note] as never)).toThrow(
    'note: the personal field text must belong to a user',
  );
});

test('an invariant holds after every command, and a violation names it', () => {
  const { given } = rulesOf(tried);
  given(claim)
    .when('make', { amount: 10 })
    .yields(['made', { amount: 10 }]);
  given(claim).when('make', { amount: 11 }).refuses('claim_not_is_small');
});

test('a negation is false for unknown values', () => {
  const { kinds } = tried;
  if (!kinds.claim) throw new Error('There is no claim');
  const check = checkOf(resolve(tried, kinds.claim, { open: false }), {
    domain: tried,
    kind: kinds.claim,
    path: [],
  });
  expect(check({ claimStatus: 'shut' }, null)).toBe(true);
  expect(check({}, null)).toBe(false);
});

test('personal fields of several persons are refused, because an aggregate has one seal', () => {
  const visit = aggregate('visit', {
    owner: 'clerk',
    parent: 'client',
    fields: {
      clerk: ref(user),
      client: ref(user),
      remark: line(9).personal(),
      complaint: line(9).personal({ of: 'client' }),
    },
    events: { made: { creates: ['remark'] }, complained: { changes: ['complaint'] } },
    commands: { make: { emits: 'made' }, complain: { emits: 'complained' } },
    rights: { read: { anyone: true } },
  });
  expect(() => assemble(base, [visit])).toThrow(
    new StartRefused(
      'visit: its personal fields belong to several persons, clerk and client: keep those of one person, or declare an aggregate for the others.',
    ),
  );
});
