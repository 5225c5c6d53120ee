import { expect, test } from 'vitest';
import { editOf } from '#kernel/decide/forms.ts';
import { domain } from '#kernel/declare/domain.ts';
import { instant, integer, line, picture, prose, ref, states } from '#kernel/declare/fields.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { assemble } from '../assembly/assemble.ts';
import { examplesOfKind } from './examples.ts';
import { aggregateOperations } from './operations.ts';

const base = domain({ name: 'expenses', roles: ['employee'] });
const { aggregate, user } = base;

const claim = aggregate('claim', {
  owner: 'employee',
  fields: {
    employee: ref(user),
    title: line(200),
    amount: integer(1, 100).filter(),
    photo: picture({ external: true }).optional(),
    reason: prose(500).optional(),
    status: states('open', 'rejected').filter(),
    decidedAt: instant().optional().sort(),
  },
  events: {
    made: { creates: ['title', 'amount', 'photo'] },
    changed: { changes: ['title', 'amount', 'photo'] },
    rejected: { changes: ['reason'], sets: { status: 'rejected', decidedAt: 'now' } },
    corrected: { changes: ['reason'] },
    withdrawn: { ends: true },
  },
  commands: {
    make: { emits: 'made' },
    correct: { emits: 'corrected', internal: true },
    change: { emits: 'changed', when: 'open' },
    reject: { emits: 'rejected', when: 'open' },
    withdraw: { emits: 'withdrawn' },
  },
  rights: { read: { employee: 'own' }, write: { employee: 'own' } },
});
const note = aggregate('fieldNote', {
  names: { plural: 'fieldNotes' },
  parent: 'claim',
  order: 'oldest',
  fields: { claim: ref(claim), text: prose(100), photo: picture({ external: true }).optional() },
  events: { left: { creates: ['text', 'photo'] }, put: { changes: ['text', 'photo'] } },
  commands: { leave: { emits: 'left', when: { claim: 'open' } }, put: { emits: 'put' } },
  rights: { read: { as: 'claim' }, write: { employee: true } },
});
const expenses = assemble(base, [claim, note]);
const operations = aggregateOperations(expenses);

test('every aggregate has reads, a write for each command, and uploads', () => {
  expect(
    Object.entries(operations).map(
      ([id, { method, path, summary }]) => `${id} ${method} ${path}: ${summary}`,
    ),
  ).toEqual([
    'createUser POST /users: Register a user',
    'replaceUser PUT /users/{userId}: Replace all changeable fields of a user',
    'editUser PATCH /users/{userId}: Change a user',
    'deleteUser DELETE /users/{userId}: Delete a user, and erase the person',
    'listClaims GET /claims: The claims that you may read',
    'listClaimsOfUser GET /users/{userId}/claims: The claims of a user that you may read',
    'aggregateClaims GET /claims/aggregate: The number of claims that you may read, with sums and other measures, by groups',
    'aggregateClaimsOfUser GET /users/{userId}/claims/aggregate: The number of claims of a user that you may read, with sums and other measures, by groups',
    'getClaim GET /claims/{claimId}: A claim',
    'listClaimHistory GET /claims/{claimId}/history: The history of a claim, as far as you may read it',
    'getClaimProof GET /claims/{claimId}/proof: A proof of a claim, which a stranger can check',
    'createClaim POST /claims: Make a claim',
    'replaceClaim PUT /claims/{claimId}: Replace all changeable fields of a claim',
    'changeClaim PATCH /claims/{claimId}: Change a claim',
    'rejectClaim POST /claims/{claimId}/reject: Reject a claim',
    'withdrawClaim DELETE /claims/{claimId}: Withdraw a claim',
    'putPhoto PUT /claims/{claimId}/photo: Upload the photo of a claim',
    'deletePhoto DELETE /claims/{claimId}/photo: Remove the photo of a claim',
    'listFieldNotes GET /claims/{claimId}/field-notes: The field notes of a claim',
    'aggregateFieldNotes GET /claims/{claimId}/field-notes/aggregate: The number of field notes of a claim that you may read, with sums and other measures, by groups',
    'getFieldNote GET /field-notes/{fieldNoteId}: A field note',
    'listFieldNoteHistory GET /field-notes/{fieldNoteId}/history: The history of a field note, as far as you may read it',
    'getFieldNoteProof GET /field-notes/{fieldNoteId}/proof: A proof of a field note, which a stranger can check',
    'leaveFieldNote POST /claims/{claimId}/field-notes: Leave a field note',
    'replaceFieldNote PUT /field-notes/{fieldNoteId}: Replace all changeable fields of a field note',
    'putFieldNote PATCH /field-notes/{fieldNoteId}: Put a field note',
    'putFieldNotePhoto PUT /field-notes/{fieldNoteId}/photo: Upload the photo of a field note',
    'deleteFieldNotePhoto DELETE /field-notes/{fieldNoteId}/photo: Remove the photo of a field note',
  ]);
});

test('clients cannot send an internal edit, neither by form nor by patch', () => {
  const kind = expenses.kinds.claim as Kind;
  expect(editOf(kind)?.name).toBe('change');
  expect(
    Object.values(operations).filter(({ use }) => use.does === 'command' && use.command.name === 'correct'),
  ).toEqual([]);
});

test('a command declares the refusals of its guard', () => {
  expect(operations.createClaim?.refusals).toEqual(['user_not_found', 'user_deleted']);
  expect(operations.rejectClaim?.refusals).toEqual(['claim_not_open']);
  expect(operations.leaveFieldNote?.refusals).toEqual(['claim_not_found', 'claim_deleted', 'claim_not_open']);
});

test('lists have the filters and orders that fields declare', () => {
  const accepts = (asked: object) => operations.listClaims?.query?.safeParse(asked).success;
  for (const asked of [
    { status: 'open' },
    { amount: '5' },
    { sort: '-decidedAt' },
    { employee: '7' },
    { sort: 'createdAt' },
  ])
    expect(accepts(asked)).toBe(true);
  for (const asked of [
    { title: 'x' },
    { sort: 'title' },
    { status: 'shut' },
    { amount: '101' },
    { amount: 'x' },
    { q: 'x' },
  ])
    expect(accepts(asked)).toBe(false);
});

test('a replacement names everything that can be changed, and may contain the rest of what was read', () => {
  const schema = operations.replaceClaim?.body?.['application/json'];
  const whole = { title: 'A train', amount: 5, photo: null };
  expect(schema?.parse({ ...whole, id: 7, status: 'open', employee: { id: 1 }, _links: {} })).toEqual(whole);
  expect(schema?.safeParse({ title: 'A train', amount: 5 }).success).toBe(false);
  expect(schema?.safeParse({ ...whole, extra: 1 }).success).toBe(false);
});

test('the examples satisfy their schemas', () => {
  for (const kind of Object.values(expenses.kinds).slice(1)) {
    const examples = examplesOfKind(expenses, kind);
    const item = Object.values(operations).find(({ use }) => use.kind === kind && use.does === 'read');
    expect(() => item?.answer.schema?.parse(Object.values(examples)[0])).not.toThrow();
  }
});

test('two operations with one path are refused by name', () => {
  const twice = aggregate('memo', { ...memos, names: { plural: 'reject' } });
  expect(() => assemble(base, [claim, twice])).toThrow(
    'memo: the operation POST /claims/{claimId}/reject already belongs to claim: give a command, a list or a plural another name.',
  );
});

const memos = {
  parent: 'claim',
  fields: { claim: ref(claim), title: line(9) },
  events: { made: { creates: ['title'] } },
  commands: { make: { emits: 'made' } },
  rights: { read: { anyone: true } },
} as const;
