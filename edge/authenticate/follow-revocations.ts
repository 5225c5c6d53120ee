import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Pool } from '#shared/database/pool.ts';
import { EVERY_MS, pulseOf } from '#shared/database/pulse.ts';
import type { Log } from '#shared/log.ts';
import {
  RETENTION_S,
  REVOKED_AT,
  type Revocable,
  type RevocationKind,
  type RevocationListener,
  type RevocationNews,
  type Revocations,
  type UserChange,
} from './revocations.ts';

type FollowedRevocations = Revocations & RevocationNews & AsyncDisposable;

export const REFRESH_MS = EVERY_MS;
/** How often they are read although the pulse has shown no news. */
const REREAD_MS = 60_000;
/** The possible difference between the clocks of two authorization servers of the former release. */
const SKEW_S = 1;
/**
 * A revocation that commits late has an earlier time than one already seen; no transaction of ours lasts
 * longer than this.
 */
const OVERLAP_S = 60;

const MICROSECONDS = 1_000_000;
const MS_PER_SECOND = 1_000;

type Row = {
  readonly kind: RevocationKind;
  readonly value: string;
  readonly revokedAt: number;
  readonly livesMs: number;
};
type Entry = { readonly revokedAt: number; readonly forgetAtMs: number };

/**
 * Keeps revocations in memory, and asks every second whether there are others. The first read must succeed;
 * later ones may fail, and callers check `staleMs`.
 */
export const followRevocations = async ({
  pool,
  log,
  clock,
}: {
  pool: Pool;
  log: Log;
  clock: Clock;
}): Promise<FollowedRevocations> => {
  const entries = new Map<string, Entry>();
  const changed = new Map<number, UserChange & { readonly forgetAtMs: number }>();
  const listeners = new Set<RevocationListener>();
  const notify: RevocationListener = (userId) => {
    for (const listener of listeners) listener(userId);
  };
  let newest = 0;
  let known = knownOf([], newest);
  let readAtMs = 0;
  const refresh = async (): Promise<void> => {
    const askedAtMs = clock.elapsedMs();
    let hasNews = false;
    const rows = await read(pool, newest);
    for (const { kind, value, revokedAt, livesMs } of rows.filter((row) => row.livesMs > 0)) {
      const key = keyOf(kind, value);
      hasNews ||= (entries.get(key)?.revokedAt ?? 0) < revokedAt;
      entries.set(key, { revokedAt, forgetAtMs: askedAtMs + livesMs });
      newest = Math.max(newest, revokedAt);
    }
    known = knownOf(rows, newest);
    // By the time that passed here: this clock may be ahead of the database’s.
    for (const [key, { forgetAtMs }] of entries) if (forgetAtMs < askedAtMs) entries.delete(key);
    for (const [userId, { forgetAtMs }] of changed) if (forgetAtMs < askedAtMs) changed.delete(userId);
    readAtMs = askedAtMs;
    if (hasNews) notify(undefined);
  };
  await refresh();
  const wait = (signal: AbortSignal) =>
    pulseOf(pool).wait({
      ...hasOthers(known),
      onNo: (askedAtMs) => {
        readAtMs = askedAtMs;
      },
      ...{ clock, timeoutMs: REREAD_MS, signal },
    });
  const following = repeat({
    work: refresh,
    wait,
    waitsFirst: true,
    onFailure(err, inRow) {
      if (inRow === 1) log.warn({ err }, 'The revocations could not be read.');
    },
  });
  return {
    isRevoked: (token, change) =>
      isRevoked(entries, token) || isBefore(change, token) || isBefore(changed.get(token.userId), token),
    staleMs: () => clock.elapsedMs() - readAtMs,
    revokeUser(userId, { version, at }) {
      const livesMs = at.getTime() + RETENTION_S * MS_PER_SECOND - dateElsewhereMs(clock);
      if (livesMs <= 0 || (changed.get(userId)?.version ?? 0) >= version) return;
      changed.set(userId, { version, at, forgetAtMs: clock.elapsedMs() + livesMs });
      notify(userId);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: () => following[Symbol.asyncDispose](),
  };
};

const keyOf = (kind: RevocationKind, value: string): string => `${kind} ${value}`;

const isRevoked = (entries: ReadonlyMap<string, Entry>, token: Revocable): boolean => {
  if (entries.size === 0) return false;
  const { jti, grantId, clientId, application, userId } = token;
  if (entries.has(keyOf('jti', jti))) return true;
  if (grantId !== undefined && entries.has(keyOf('grant', grantId))) return true;
  return (
    isSince(entries.get(keyOf('client', clientId)), token, token.seen?.client) ||
    (application !== undefined &&
      isSince(entries.get(keyOf('client', application)), token, token.seen?.application)) ||
    isSince(entries.get(keyOf('user', String(userId))), token, token.seen?.user)
  );
};

const isSince = (entry: Entry | undefined, { issuedAtS }: Revocable, seen: number | undefined): boolean =>
  entry !== undefined &&
  (seen === undefined ? isIssuedBy(issuedAtS, entry.revokedAt / MICROSECONDS) : entry.revokedAt > seen);

const isBefore = (change: UserChange | undefined, { issuedAtS, userVersion }: Revocable): boolean =>
  change !== undefined &&
  (userVersion === undefined
    ? isIssuedBy(issuedAtS, change.at.getTime() / MS_PER_SECOND)
    : userVersion < change.version);

/**
 * Tokens of the former release state only the second of their issue, so those of the same second are refused
 * as well.
 */
const isIssuedBy = (issuedAtS: number, atS: number): boolean => issuedAtS <= Math.floor(atS) + SKEW_S;

const MICROSECOND = `(extract(epoch from revoked_at) * ${MICROSECONDS})::bigint`;

/** The start of what is read again. After the database’s clock was set back, new revocations are older than known ones. */
const startUs = (newest: number): number => newest - OVERLAP_S * MICROSECONDS;
const isAfter = (afterUs: string): string =>
  `revoked_at > least(to_timestamp((${afterUs})::float8 / ${MICROSECONDS}), now() - interval '${OVERLAP_S} seconds')`;

const read = async (pool: Pool, newest: number): Promise<readonly Row[]> => {
  const { rows } = await pool.query<Row>(
    `select kind, value, ${REVOKED_AT} as "revokedAt", extract(epoch from expires_at - clock_timestamp())::float8 * 1000 as "livesMs"
     from auth.revoked where ${isAfter('$1')}`,
    [startUs(newest)],
  );
  return rows;
};

/** The revocations that are read again, by their number and the sum of their times. */
type Known = { readonly afterUs: number; readonly count: number; readonly sum: bigint };

const knownOf = (rows: readonly Row[], newest: number): Known => {
  const afterUs = startUs(newest);
  const known = rows.filter(({ revokedAt }) => revokedAt > afterUs);
  const sum = known.reduce((all, { revokedAt }) => all + BigInt(revokedAt), 0n);
  return { afterUs, count: known.length, sum };
};

/** SQL that is true if there are others. Each revocation is new, or has a later time than before. */
const hasOthers = ({ afterUs, count, sum }: Known) => ({
  until: `(select count(*) <> $1::bigint or coalesce(sum(${MICROSECOND}), 0) <> $2::numeric from auth.revoked where ${isAfter('$3')})`,
  values: [count, String(sum), afterUs],
});
