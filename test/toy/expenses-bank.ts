import { assemble } from 'annals';
import { message, sender } from 'annals/inbox';
import * as z from 'zod';
import { base } from '../../examples/expenses/domain/base.ts';
import { claim } from '../../examples/expenses/domain/claim.ts';
import { spending } from '../../examples/expenses/domain/spending.ts';
import { team } from '../../examples/expenses/domain/team.ts';

/** The reference of a transfer is the number of the claim. */
const Settled = z.object({ data: z.object({ reference: z.coerce.number().int().positive() }) });

/** The bank pays what was approved, and reports it. */
const bank = sender(base, 'bank', {
  says: 'The bank of the company: it reports the transfers that it has made.',
  signature: { scheme: 'standard-webhooks', secrets: 'BANK_WEBHOOK_SECRETS' },
  as: 'accountant',
  on: {
    'transfer.settled': message(claim, 'pay', {
      payload: Settled,
      given: ({ data }) => ({ id: data.reference }),
    }),
  },
});

export const expenses = assemble(base, [team, claim], [spending], [bank]);
