import { LRUCache } from 'lru-cache';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { CONSOLE } from '../storage/client.ts';
import { canBeId } from './client-table.ts';

const NOTED_MAX = 10_000;
/**
 * A client that gets thousands of tokens costs one statement in this time in each process. Another process may
 * have written just before: what is stored is up to twice as old, an hour.
 */
const NOTED_EVERY_MS = 1_800_000;

type Dependencies = { readonly pool: Pick<Pool, 'query'>; readonly log: Pick<Log, 'warn'> };

/** A deleted client may have a successor with its id. */
type Used = { readonly clientId: string; readonly createdAtMs: number };

/**
 * Notes that a client got a token. It never waits and never fails: a token is issued whether that is noted or
 * not.
 */
export const createNoteUse = ({ pool, log }: Dependencies): ((client: Used) => void) => {
  const noted = new LRUCache<string, true>({ max: NOTED_MAX, ttl: NOTED_EVERY_MS });
  return ({ clientId, createdAtMs }) => {
    const key = `${clientId} ${createdAtMs}`;
    if (noted.has(key)) return;
    noted.set(key, true);
    upsertUse(pool, { clientId, createdAtMs }).catch((err: unknown) => {
      noted.delete(key);
      log.warn({ err, clientId }, 'The use of a client could not be recorded.');
    });
  };
};

/**
 * Another process may have noted the use just now, or deleted the client. The lock makes a deletion wait, which
 * then deletes this row as well. A `Date` holds no more than milliseconds.
 */
const upsertUse = async (pool: Dependencies['pool'], { clientId, createdAtMs }: Used): Promise<void> => {
  await pool.query(
    `with client as (
       select from auth.client
       where client_id = $1 and floor(extract(epoch from created_at) * 1000) = $3 for key share
     )
     insert into auth.client_use as known (client_id, used_at)
     select $1, now() where $4 or exists (select from client)
     on conflict (client_id) do update set used_at = excluded.used_at
     where known.used_at <= excluded.used_at - $2 * interval '1 millisecond'`,
    [clientId, NOTED_EVERY_MS, createdAtMs, clientId === CONSOLE],
  );
};

/** When clients last got a token; of those that never did, nothing. */
export const selectUses = async (
  pool: Pick<Pool, 'query'>,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> => {
  const { rows } = await pool.query<{ clientId: string; usedAt: Date }>(
    'select client_id as "clientId", used_at as "usedAt" from auth.client_use where client_id = any ($1)',
    [clientIds.filter(canBeId)],
  );
  return new Map(rows.map(({ clientId, usedAt }) => [clientId, usedAt]));
};
