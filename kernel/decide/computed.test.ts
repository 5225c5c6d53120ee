import { expect, test } from 'vitest';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { integer, line, ref, states } from '../declare/fields.ts';
import { definitionsOf } from '../events/definitions.ts';
import type { Kind } from '../registry/registry.ts';
import { compileRows } from '../rows/compile.ts';
import { definitionOf } from '../rows/definition.ts';
import { ID, OWNER, rulesOf } from './given.ts';

const base = domain({ name: 'trade', roles: ['trader'] });
const { aggregate, user } = base;
const quote = aggregate('quote', {
  owner: 'trader',
  fields: {
    trader: ref(user),
    amount: integer(1, 100),
    rate: integer(1, 100).optional().example(3),
    note: line(20).personal().optional(),
    status: states('open', 'converted'),
  },
  events: {
    asked: { creates: ['amount'] },
    changed: { changes: ['amount'], computes: ['rate'] },
    converted: { sets: { status: 'converted' }, computes: ['rate', 'note'] },
    revalued: { computes: ['rate'] },
    gone: { ends: true },
  },
  commands: {
    ask: { emits: 'asked' },
    change: { emits: ['changed'], decide: ({ form }) => [['changed', { rate: (form.amount ?? 1) + 1 }]] },
    convert: {
      emits: ['converted', 'gone'],
      decide: ({ state }) =>
        state.amount === 1
          ? ['gone']
          : [['converted', { rate: state.amount * 2, note: `${state.amount} by two` }]],
    },
    revalue: {
      emits: ['revalued'],
      decide: ({ state }) => [['revalued', { rate: state.amount === 99 ? 101 : state.amount }]],
    },
  },
  rights: { read: { anyone: true }, write: { trader: 'own' } },
});
const trade = assemble(base, [quote]);
const kind = trade.kinds.quote as Kind;
const { given } = rulesOf(trade);
const asked = ['asked', { amount: 5 }] as const;
const converted = ['converted', { rate: 10, note: '5 by two' }] as const;

test('a decision computes values of an event that no form contains', () => {
  given(quote, asked).when('convert').yields(converted);
  given(quote, ['asked', { amount: 1 }])
    .when('convert')
    .yields('gone');
  given(quote, asked)
    .when('change', { amount: 7 })
    .yields(['changed', { amount: 7, rate: 8 }]);
  given(quote, asked)
    .when('revalue')
    .yields(['revalued', { rate: 5 }]);
});

test('a computed value equal to the present one changes nothing', () => {
  given(quote, asked, converted).when('convert').changesNothing();
  given(quote, asked, ['revalued', { rate: 5 }])
    .when('revalue')
    .changesNothing();
  given(quote, asked, ['revalued', { rate: 4 }])
    .when('revalue')
    .yields(['revalued', { rate: 5 }]);
});

test('a computed value beyond the limits of its field is refused in a sentence', () => {
  try {
    given(quote, ['asked', { amount: 99 }])
      .when('revalue')
      .yields();
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({
      code: 'invalid_command',
      details: {
        errors: [
          {
            pointer: '',
            detail: 'The command would give the quote a wrong rate. Must be at most 100.',
          },
        ],
      },
    });
  }
});

test('state and row hold the same computed value', () => {
  const { state } = given(quote, asked, converted);
  expect(state).toMatchObject({ fields: { rate: 10, note: '5 by two', status: 'converted' } });
  const data = { quoteId: ID, traderId: OWNER, rate: 10, note: '5 by two' };
  const metadata = { at: '2026-01-02T03:04:05.678Z', actor: `user:${OWNER}` };
  const row = compileRows(kind).get('quote.converted')?.({
    type: 'quote.converted',
    version: 2,
    data,
    metadata,
    seal: 'x',
  });
  expect(row).toMatchObject({
    kind: 'patch',
    row: { id: ID, rate: 10, note: '5 by two', status: 'converted', seal: 'x' },
  });
  expect(definitionOf(kind).table).toContain('rate bigint');
});

test('the schema of the event requires the computed value, seals personal data in it, and publishes it', () => {
  const definition = definitionsOf(trade).find(({ type }) => type === 'quote.converted');
  const ids = { quoteId: ID, traderId: OWNER };
  expect(definition?.schema.safeParse({ ...ids, rate: 3, note: null }).success).toBe(true);
  expect(definition?.schema.safeParse({ ...ids, note: null }).success).toBe(false);
  expect(definition).toMatchObject({
    personal: { subject: 'traderId', fields: ['note'] },
    example: { rate: 3, note: null },
  });
});

const declared = (events: object, commands: object) =>
  assemble(base, [
    aggregate('other', {
      owner: 'trader',
      fields: { trader: ref(user), amount: integer(1, 100).optional() },
      events: { made: { creates: [] }, ...events },
      commands: { make: { emits: 'made' }, ...commands },
      rights: { read: { anyone: true } },
    } as never) as never,
  ]);

test.each([
  [
    'an end',
    { gone: { ends: true, computes: ['amount'] } },
    {},
    'other: the event gone has `ends`, which cannot compute values',
  ],
  [
    'a command that decides nothing',
    { set: { computes: ['amount'] } },
    { set: { emits: 'set' } },
    'other: the command set emits set, which computes values, but the command does not decide them',
  ],
])('%s computes nothing', (_, events, commands, sentence) =>
  expect(() => declared(events, commands)).toThrow(sentence),
);

test('a decision that lacks a computed value of its event is the author’s fault', () => {
  const wrong = declared(
    { set: { computes: ['amount'] } },
    { set: { emits: ['set'], decide: () => ['set'] } },
  );
  const other = { kind: 'other', events: { made: {}, set: {} }, commands: { set: {} } };
  expect(() => rulesOf(wrong).given(other, 'made').when('set').yields()).toThrow(
    'the decision on other.set lacks amount',
  );
});
