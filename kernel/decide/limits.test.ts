import { expect, test } from 'vitest';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { lending } from '../../test/toy/lending.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { email, line, states } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { limitsOf } from './limits.ts';
import type { AggregateState } from './state.ts';

const present = (fields: object): AggregateState => ({
  status: 'present',
  fields: { id: 8, ...fields },
  lostUploads: '',
});
const among = (of: Domain, kind: string, limit: string, state: AggregateState) =>
  limitsOf(of, of.kinds[kind] as Kind)
    .find(({ name }) => name === limit)
    ?.among(state);

test('an aggregate counts with those that share its values, as long as the condition holds', () => {
  const loan = { borrower: 1, book: 2 };
  expect(among(lending, 'loan', 'open', present({ ...loan, status: 'open' }))).toEqual([1]);
  expect(among(lending, 'loan', 'out', present({ ...loan, status: 'open' }))).toEqual([2]);
  expect(among(lending, 'loan', 'open', present({ ...loan, status: 'returned' }))).toBeUndefined();
  expect(among(lending, 'loan', 'open', { status: 'absent' })).toBeUndefined();
  expect(among(lending, 'loan', 'open', { status: 'ended', fields: { id: 8, borrower: 1 } })).toBeUndefined();
});

test('texts are compared ignoring case and Unicode form, addresses also by domain, and null equals nothing', () => {
  expect(among(lending, 'book', 'code', present({ code: 'JO\u0308RG', shelf: null }))).toEqual(['j\u00f6rg']);
  expect(among(lending, 'book', 'shelf', present({ code: 'a', shelf: null }))).toBeUndefined();
  expect(among(lending, 'user', 'email', present({ email: 'Ada@XN--BCHER-KVA.example' }))).toEqual([
    'ada@b\u00fccher.example',
  ]);
});

test('a field that a domain adds to users can be unique', () => {
  const added = domain({
    name: 'tried',
    roles: ['clerk'],
    user: { fields: { badge: line(9).optional().unique() } },
  });
  const { user } = assemble(added, []).kinds;
  expect(user?.limits.map(({ name, fence, refusal }) => [name, fence, refusal.code])).toEqual([
    ['email', 'email_abandoned', 'email_taken'],
    ['badge', 'claim_abandoned', 'user_badge_taken'],
  ]);
  const other = domain({ name: 'tried', roles: ['clerk'] });
  const guest = other.aggregate('guest', {
    fields: { address: email().unique() },
    events: { came: { creates: ['address'] } },
    commands: { come: { emits: 'came' } },
    rights: { read: { anyone: true } },
  });
  const tried = assemble(other, [guest]);
  expect(among(tried, 'guest', 'address', present({ address: 'A@xn--bcher-kva.example' }))).toEqual([
    'a@b\u00fccher.example',
  ]);
});

test('a limit can refuse only commands after which one more aggregate may count', () => {
  const operations = operationsOf(lending);
  const refusedBy = (id: string) =>
    operations[id]?.refusals?.filter((code) => /^(?:book|loan|card)_.*_(?:full|out|taken)$/.test(code));
  expect(
    Object.keys(operations).flatMap((id) => ((refusedBy(id)?.length ?? 0) > 0 ? [[id, refusedBy(id)]] : [])),
  ).toEqual([
    ['createBook', ['book_code_taken', 'book_shelf_taken']],
    ['replaceBook', ['book_code_taken', 'book_shelf_taken']],
    ['changeBook', ['book_code_taken', 'book_shelf_taken']],
    ['createLoan', ['loan_open_full', 'loan_out_full']],
    ['replaceLoan', ['loan_out_full']],
    ['moveLoan', ['loan_out_full']],
    ['reopenLoan', ['loan_open_full', 'loan_out_full']],
    ['createCard', ['card_number_taken']],
    ['replaceCard', ['card_number_taken']],
    ['renumberCard', ['card_number_taken']],
  ]);
});

test('values that an event sets count, and replace those of the form', () => {
  const tried = domain({ name: 'tried', roles: ['clerk'] });
  const note = tried.aggregate('note', {
    fields: { title: line(9), status: states('draft', 'open') },
    events: { opened: { creates: ['title'], sets: { status: 'open' } } },
    commands: { open: { emits: 'opened' } },
    limits: { open: { max: 3, when: { status: 'open' }, says: 'Full.' } },
    rights: { read: { anyone: true } },
  });
  const operations = Object.values(operationsOf(assemble(tried, [note])));
  const refused = operations.filter(({ refusals = [] }) =>
    (refusals as readonly string[]).includes('note_open_full'),
  );
  expect(refused).toHaveLength(1);
});

/** Stored logs contain these events. */
test('claims keep their own streams', () => {
  const typesOf = (of: Domain) => catalogueOf(of).definitions.map(({ type }) => type);
  expect(typesOf(expenses).filter((type) => /^limit\.|claim_abandoned$/.test(type))).toEqual([]);
  const find = (type: string) => {
    const { version, visibility, stream, schema, example } = catalogueOf(lending).find(type) ?? {};
    return {
      version,
      visibility,
      stream,
      fields: Object.keys(schema?.shape ?? {}),
      example: schema?.parse(example),
    };
  };
  const common = { version: 1, visibility: 'internal' };
  expect(['limit.claimed', 'limit.released', 'loan.claim_abandoned'].map(find)).toEqual([
    {
      ...{ ...common, stream: { kind: 'limit', key: null }, fields: ['limit', 'id', 'version', 'at'] },
      example: { limit: 'claim.open', id: 8001, version: 0, at: '2026-01-02T03:04:05.678Z' },
    },
    {
      ...common,
      stream: { kind: 'limit', key: null },
      fields: ['limit', 'id'],
      example: { limit: 'claim.open', id: 8001 },
    },
    {
      ...common,
      stream: { kind: 'loan', key: 'loanId' },
      fields: ['loanId', 'claim'],
      example: { loanId: 9001, claim: 'limit-6XrQ@0' },
    },
  ]);
});
