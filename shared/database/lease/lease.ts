import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Clock } from '#shared/clock/clock.ts';
import { migrate } from '../migrate.ts';
import { UNANSWERED_MS } from '../unanswered.ts';
import { type Lease, type Renewal, renewOrNot } from './renew.ts';
import { untilBeat } from './until-beat.ts';

/** Work under a lease: until the signal says that the lease is lost, and with writes fenced by the epoch. */
type LeasedWork = (lease: { readonly epoch: number; readonly signal: AbortSignal }) => Promise<void>;

/** If a statement of the leader gets no response for this long, its connection ends, and so does its lease. */
const TTL_MS = UNANSWERED_MS;
export const RETRY_MS = 500;
/**
 * Parts of the length of a lease. An owner of any release notices within half of it that it has lost the
 * lease, because an earlier release waits for no longer than that.
 */
const RENEWED_AFTER = 3 / 8;
const TRIED_AGAIN_AFTER = 1 / 16;
const NOTICED_AFTER = 1 / 2;
const RELEASE_MAX_MS = 1_000;

/**
 * SQL that returns whether a lease is held. A lease that expires later than its length allows was renewed
 * before the server’s clock was set back; a living owner renews it within half of that length.
 */
export const isHeld = (lease: string, ttlMs: number | string = TTL_MS): string =>
  `(${lease}.expires_at >= clock_timestamp() and ${lease}.expires_at <= clock_timestamp() + ${ttlMs} * interval '1 millisecond')`;

export const migrateLeases = (pool: pg.Pool): Promise<void> =>
  migrate(pool, 'lease', new URL('./', import.meta.url));

/**
 * Runs the work in one process at a time, and takes it over within seconds when its owner dies. A paused
 * owner that wakes up finds its signal aborted; the epoch fences off its writes before it notices. Work that
 * throws restarts after `onFailure`, unless it lost the lease.
 */
export const runUnderLease = async (
  {
    pool,
    name,
    clock,
    ttlMs = TTL_MS,
    onFailure,
  }: { pool: pg.Pool; name: string; clock: Clock; ttlMs?: number; onFailure: (error: unknown) => void },
  work: LeasedWork,
  signal: AbortSignal,
): Promise<void> => {
  const lease: Lease = { pool, name, owner: randomUUID(), ttlMs };
  while (!signal.aborted) {
    try {
      const epoch = await acquire(lease);
      if (epoch !== undefined) await workWhileHeld(lease, { epoch, signal }, work);
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
    await clock.sleep(Math.min(RETRY_MS, ttlMs / 4), signal);
  }
};

/**
 * Leases that were taken from their owners, until it is disposed. The work under them stands by meanwhile.
 * `lost` aborts if another process took one, or if the database did not answer in time.
 */
export type HeldLeases = AsyncDisposable & { readonly lost: AbortSignal };

/**
 * Resolves when former owners have noticed, which they do at their next renewal. Their leases are of the same
 * length.
 */
export const holdLeases = async (
  pool: pg.Pool,
  names: readonly string[],
  ttlMs = TTL_MS,
): Promise<HeldLeases> => {
  const owner = randomUUID();
  const held = await Promise.all(
    names.map(async (name) => {
      const lease: Lease = { pool, name, owner, ttlMs };
      const free = await acquire(lease);
      return { lease, epoch: free ?? (await seize(lease)), hadOwner: free === undefined };
    }),
  );
  const leases = renewing(held);
  if (held.some(({ hadOwner }) => hadOwner)) await delay(NOTICED_AFTER * ttlMs);
  return leases;
};

/** Renews leases that were acquired, until it is disposed. */
export const renewing = (held: readonly { readonly lease: Lease; readonly epoch: number }[]): HeldLeases => {
  const [lost, done] = [new AbortController(), new AbortController()];
  const all = held.map(({ lease, epoch }) =>
    renewUntil(lease, epoch, done.signal).finally(() => done.signal.aborted || lost.abort()),
  );
  return {
    lost: lost.signal,
    async [Symbol.asyncDispose]() {
      done.abort();
      await Promise.all(all);
      await Promise.all(held.map(({ lease }) => release(lease).catch(() => {})));
    },
  };
};

const workWhileHeld = async (
  lease: Lease,
  held: { epoch: number; signal: AbortSignal },
  work: LeasedWork,
): Promise<void> => {
  const lost = new AbortController();
  const done = new AbortController();
  const renewing = renewUntil(lease, held.epoch, AbortSignal.any([done.signal, lost.signal])).finally(() =>
    lost.abort(),
  );
  try {
    await work({ epoch: held.epoch, signal: AbortSignal.any([held.signal, lost.signal]) });
  } catch (error) {
    // Work ends with an error of its own if it is told to stop. The lease goes to another process.
    if (!lost.signal.aborted) throw error;
  } finally {
    done.abort();
    await renewing;
    // If the server does not respond, the lease expires by itself.
    await Promise.race([release(lease).catch(() => {}), delay(RELEASE_MAX_MS, undefined, { ref: false })]);
  }
};

/**
 * Renews in good time, and returns when the lease is lost or the work done. In real time, because the server
 * measures when a lease expires.
 */
const renewUntil = async (lease: Lease, epoch: number, signal: AbortSignal): Promise<void> => {
  let renewedAtMs = performance.now();
  let answer: Renewal = 'renewed';
  while (!signal.aborted) {
    // After a failure there may be time for one more attempt before the lease expires.
    const everyMs = lease.ttlMs * (answer === 'renewed' ? RENEWED_AFTER : TRIED_AGAIN_AFTER);
    await delay(untilBeat(everyMs, performance.now()), undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const askedAtMs = performance.now();
    // The server may give the lease away as soon as it has expired, counted from the start of the last
    // renewal.
    const leftMs = lease.ttlMs - (askedAtMs - renewedAtMs);
    const answered = new AbortController();
    const late = AbortSignal.any([signal, answered.signal]);
    answer = await Promise.race([
      renewOrNot(lease, epoch),
      delay(Math.max(leftMs, 0), 'lost' as const, { signal: late }).catch(() => 'lost' as const),
    ]);
    // Otherwise a timer for each lease would wake the process later on.
    answered.abort();
    if (answer === 'lost') return;
    if (answer === 'renewed') renewedAtMs = askedAtMs;
  }
};

export const acquire = async ({ pool, name, owner, ttlMs }: Lease): Promise<number | undefined> => {
  const { rows } = await pool.query<{ epoch: number }>({
    query_timeout: ttlMs,
    text: `insert into public.lease as held (name, owner, epoch, expires_at) values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update
       set owner = excluded.owner, epoch = held.epoch + 1, expires_at = clock_timestamp() + $3 * interval '1 millisecond'
       where not ${isHeld('held', '$3')}
     returning epoch`,
    values: [name, owner, ttlMs],
  } as pg.QueryConfig);
  return rows[0]?.epoch;
};

/** Takes the lease from any holder. */
const seize = async ({ pool, name, owner, ttlMs }: Lease): Promise<number> => {
  const { rows } = await pool.query<{ epoch: number }>(
    `insert into public.lease as held (name, owner, epoch, expires_at) values ($1, $2, 1, clock_timestamp() + $3 * interval '1 millisecond')
     on conflict (name) do update
       set owner = excluded.owner, epoch = held.epoch + 1, expires_at = clock_timestamp() + $3 * interval '1 millisecond'
     returning epoch`,
    [name, owner, ttlMs],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`the lease ${name} was not taken`);
  return row.epoch;
};

/** Lets the next owner begin at once; the epoch stays, so that it only ever rises. */
const release = async ({ pool, name, owner }: Lease): Promise<void> => {
  await pool.query(`update public.lease set expires_at = '-infinity' where name = $1 and owner = $2`, [
    name,
    owner,
  ]);
};
