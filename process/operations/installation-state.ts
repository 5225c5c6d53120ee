import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { type PartName, serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { CHAIN } from '#shared/audit/chain.ts';
import { isHeld } from '#shared/database/lease/lease.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE, LIVE_SCHEMA, NEXT, PREVIOUS, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { lagSecondsAt } from '#shared/follower/lag.ts';
import { DIRECTORY } from '#shared/persons/directory.ts';
import { type Fingerprint, isMadeBy, type Marks, marksIn } from '#shared/projection/fingerprint.ts';
import { areVersionsLocked, readVersion } from '#shared/read-model/versions.ts';
import type { WebhookCounts } from '#shared/webhooks/counts.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import { type ConsequenceCounts, countConsequences } from './consequences.ts';

/**
 * The state of the installation according to the database: the same from every process, whatever other
 * processes there are.
 */
export type InstallationState = {
  readonly head: Position;
  readonly readModel: {
    readonly position: Position;
    readonly behindSeconds: number | null;
    readonly parked: number;
    readonly skipped: number;
    readonly bytes: number;
    readonly isOfThisRelease: boolean;
    /** The position of a rebuild under way. */
    readonly rebuild: Position | null;
  };
  readonly followers: readonly FollowerState[];
  readonly consequences: ConsequenceCounts;
  /** Undefined if they are not served. */
  readonly webhooks: WebhookCounts | undefined;
};

const countWebhooks = async (pool: Pool): Promise<WebhookCounts> =>
  (await import('#shared/webhooks/counts.ts')).countWebhooks(pool);

export const readInstallationState = async (
  domain: Domain,
  pool: Pool,
  eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>,
): Promise<InstallationState> => {
  const hasWebhooks = serves(domain, 'webhooks');
  const followers = await readServedFollowers(domain, pool, eventLog);
  const [live, next, isUnderWay, counts, isOfThisRelease, webhooks, consequences] = await Promise.all([
    readVersion(pool, LIVE),
    readVersion(pool, NEXT),
    areVersionsLocked(pool),
    countParkedAndSkipped(pool),
    isOfProjectorsRelease(pool),
    hasWebhooks ? countWebhooks(pool) : undefined,
    countConsequences(pool),
  ]);
  const projector = followers.find(({ name }) => name === PROJECTOR);
  return {
    head: await eventLog.head(),
    readModel: {
      position: live?.position ?? START,
      behindSeconds: projector === undefined ? null : projector.behindSeconds,
      bytes: live?.bytes ?? 0,
      ...counts,
      isOfThisRelease,
      rebuild: isUnderWay && next ? next.position : null,
    },
    followers,
    consequences,
    webhooks,
  };
};

/** The checkpoints of a part stay when it is no longer served. */
const FOLLOWERS_OF_PARTS: ReadonlyMap<string, PartName> = new Map([
  [PLANNER, 'webhooks'],
  [CHAIN, 'proof'],
  [DIRECTORY, 'accounts'],
]);

/** The followers of the core and of the served parts. */
export const readServedFollowers = async (
  domain: Domain,
  ...given: Parameters<typeof readFollowers>
): Promise<readonly FollowerState[]> =>
  (await readFollowers(...given)).filter(({ name }) => {
    const part = FOLLOWERS_OF_PARTS.get(name);
    return part === undefined || serves(domain, part);
  });

/** Parked items, and the events that operators have skipped. */
export const countParkedAndSkipped = async (
  pool: Pool,
): Promise<{ readonly parked: number; readonly skipped: number }> => {
  const { rows } = await pool.query<{ parked: number; skipped: number }>(
    `select (select count(*) from ${LIVE_SCHEMA}.parked) as parked, (select count(*) from public.projection_skip) as skipped`,
  );
  return rows[0] ?? { parked: 0, skipped: 0 };
};

/** The projector records its fingerprint of the read model; another process may be of another release. */
const isOfProjectorsRelease = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<Marks & { recorded: string }>(
    `select fingerprint as recorded, ${marksIn('$1')} from operations.projection`,
    [LIVE_SCHEMA],
  );
  const [found] = rows;
  if (found === undefined) return true;
  // An earlier release records only its tables.
  const [schema = '', parts = '{}'] = found.recorded.split(' ');
  return isMadeBy({ schema, rows: JSON.parse(parts) as Fingerprint['rows'] }, found);
};

/** Records the read model’s definition in the release of this projector. */
export const recordFingerprint = async (pool: Pool, { schema, rows }: Fingerprint): Promise<void> => {
  await pool.query(
    `insert into operations.projection (fingerprint) values ($1) on conflict (only_one) do update set fingerprint = $1`,
    [`${schema} ${JSON.stringify(rows)}`],
  );
};

type FollowerState = {
  readonly name: string;
  /** Null if it has followed another log. */
  readonly position: Position | null;
  /** The waiting time of its oldest event; null if the log does not respond in time. */
  readonly behindSeconds: number | null;
  /** Whether some process owns it. */
  readonly isRunning: boolean;
};

type Row = {
  readonly name: string;
  readonly log: LogIdentity;
  readonly position: Position;
  readonly isRunning: boolean;
};

/** The positions of all followers that ever ran, by their names. */
const readFollowers = async (
  pool: Pool,
  eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>,
): Promise<FollowerState[]> => {
  const rows = await readCheckpoints(pool);
  // Read after the positions, so that none is beyond it.
  const head = await eventLog.head();
  const waited = new Map<Position, Promise<number | null>>();
  const lagSeconds = (position: Position): Promise<number | null> => {
    const known =
      waited.get(position) ??
      (position >= head ? Promise.resolve(0) : lagSecondsAt(eventLog, position).catch(() => null));
    waited.set(position, known);
    return known;
  };
  return Promise.all(
    rows.map(async ({ name, log, position, isRunning }) => {
      const isOurs = log === eventLog.identity;
      return {
        name,
        position: isOurs ? position : null,
        behindSeconds: isOurs ? await lagSeconds(position) : null,
        isRunning,
      };
    }),
  );
};

/** The first follower creates the tables, and they stay. */
const hasFollowers = async (pool: Pool): Promise<boolean> => {
  if (withFollowers.has(pool)) return true;
  const { rows } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('public.follower_checkpoint') is not null and to_regclass('public.lease') is not null as "isThere"`,
  );
  if (rows[0]?.isThere === true) withFollowers.add(pool);
  return withFollowers.has(pool);
};

const withFollowers = new WeakSet<Pool>();

/** Other versions of the read model have checkpoints, too, but follow nothing. */
const readCheckpoints = async (pool: Pool): Promise<readonly Row[]> => {
  if (!(await hasFollowers(pool))) return [];
  const { rows } = await pool.query<Row>(
    `select follower as name, log, position, coalesce(${isHeld('l')}, false) as "isRunning"
     from public.follower_checkpoint c left join public.lease l on l.name = c.follower
     where follower <> all ($1) order by follower`,
    [[NEXT.follower, PREVIOUS.follower]],
  );
  return rows;
};
