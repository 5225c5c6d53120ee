import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { countInReadModels, countInVerifications, type ReadModels } from './copies.ts';
import { endingWith, type Naming, stayingWithout } from './references.ts';

type Left = Pick<ErasureReport['parts'][number], 'part' | 'left'>;

/** What is looked for in the tables of the roles, each of which knows best how it erases. */
const PARTS: readonly { readonly part: string; readonly text: string }[] = [
  {
    part: 'webhooks',
    text: `select count(*) from ${LIVE_SCHEMA}.webhooks where owner_id = $1`,
  },
  {
    part: 'deliveries to their webhooks',
    text: `select count(*) from webhook_ledger.delivery join webhook_ledger.endpoint using (webhook_id)
           where owner_id = $1 and (state = 'due' or last_error is not null)`,
  },
  {
    part: 'attempts at their webhooks',
    text: 'select count(*) from webhook_ledger.attempt join webhook_ledger.endpoint using (webhook_id) where owner_id = $1',
  },
  {
    part: 'answers to what was told of them',
    text: `select count(*) from webhook_ledger.message
             join webhook_ledger.delivery on delivery.event_id = message.event_id
             join webhook_ledger.attempt on attempt.webhook_id = delivery.webhook_id and attempt.event_id = delivery.event_id
           where person_id = $1 and (response_body is not null or response_headers <> '{}' or error is not null)`,
  },
  { part: 'account', text: `select count(*) from auth.person where user_id = $1 and (status <> 'deleted' or email_hash is not null)` },
  { part: 'password', text: 'select count(*) from auth.credential where user_id = $1' },
  { part: 'passkeys', text: 'select count(*) from auth.passkey where user_id = $1' },
  { part: 'second factor', text: 'select count(*) from auth.second_factor where user_id = $1' },
  { part: 'recovery codes', text: 'select count(*) from auth.recovery_code where user_id = $1' },
  { part: 'sessions and grants', text: 'select count(*) from auth.record where account_id = $1::bigint::text' },
];

type Erased = ReadModels & { readonly domain: Domain };

/** What is left of somebody, by where it is; nothing is once all who have to do with them have come to their deletion. */
export const countLeft = async ({ domain, pool, tables }: Erased, userId: UserId): Promise<readonly Left[]> => {
  const versions = [...(await countInReadModels({ pool, tables }, userId))].map(([part, left]) => ({ part, left }));
  const ending = endingWith(domain).map((naming) => ({ part: naming.says, text: countOfNaming(naming) }));
  const endings = ending.map(async ({ part, text }) => ({ part, left: await countOf(pool, text, userId) }));
  const parts = PARTS.map(async ({ part, text }) => ({ part, left: await countOf(pool, text, userId) }));
  const verifications = countInVerifications({ pool, tables }, userId).then((left) => ({ part: 'verifications', left }));
  return Promise.all([...versions, verifications, ...endings, ...parts]);
};

/** What stays, without the person. */
export const countKept = async ({ domain, pool }: Omit<Erased, 'tables'>, userId: UserId): Promise<ErasureReport['kept']> =>
  Object.fromEntries(
    await Promise.all(
      stayingWithout(domain).map(async (naming) => [naming.name, await countOf(pool, countOfNaming(naming), userId)] as const),
    ),
  );

const countOfNaming = ({ kind, where }: Naming): string => `select count(*) from ${LIVE_SCHEMA}.${kind.table} t where ${where}`;

/** A role that was never there has left nothing. */
const countOf = async (pool: Pool, text: string, userId: UserId): Promise<number> => {
  try {
    const { rows } = await pool.query<{ count: number }>(text, [userId]);
    return Number(rows[0]?.count ?? 0);
  } catch (error) {
    if (isUndefinedTable(error)) return 0;
    throw error;
  }
};
