import { expect, test } from 'vitest';
import type { MessageInfo } from '#kernel/registry/sender-info.ts';
import { commandOf } from '../inbox/command-of.ts';
import { expenses } from './toy/expenses-bank.ts';

const facts = { id: 'msg_1', type: 'transfer.settled' };
const [bank] = expenses.senders ?? [];
const settled = bank?.on[facts.type] as MessageInfo;

test('the example of the expenses pays the claim that a transfer names', async () => {
  expect(bank).toMatchObject({ name: 'bank', role: 'accountant', operationId: 'receiveBank' });
  const payload = { data: { reference: '8001' } };
  expect(await commandOf(expenses, { message: settled, payload, facts })).toEqual({
    type: 'PayClaim',
    claimId: 8001,
  });
});

test('a transfer for something else is refused by its field', async () => {
  const payload = { data: { reference: 'rent' } };
  await expect(commandOf(expenses, { message: settled, payload, facts })).rejects.toMatchObject({
    code: 'invalid_request',
    extensions: { errors: [{ pointer: '/data/reference' }] },
  });
});
