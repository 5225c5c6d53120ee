import { randomUUID } from 'node:crypto';
import type { Pool } from '../pool.ts';
import { UNANSWERED_MS } from '../unanswered.ts';
import { acquire, type HeldLeases, renewing } from './lease.ts';
import type { Lease } from './renew.ts';

/** Takes a lease until it is disposed; undefined if somebody holds it. */
export const takeLease = async (
  pool: Pool,
  name: string,
  ttlMs = UNANSWERED_MS,
): Promise<HeldLeases | undefined> => {
  const lease: Lease = { pool, name, owner: randomUUID(), ttlMs };
  const epoch = await acquire(lease);
  return epoch === undefined ? undefined : renewing([{ lease, epoch }]);
};
