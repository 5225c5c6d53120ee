// Over 200 lines, because it is one protocol: how the last administrator stays one, with its stream.

import type { StreamName, UserId, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Decider } from '../decider.ts';
import { type AppendDependencies, tryAppend } from '../handling/try-append.ts';
import { abandonEmail, profileOf, userStream, usersOf } from '../users/user.ts';

/** Ensures that the installation always has an administrator. */
export type AdministratorKeeper = {
  /** Announces that a user becomes an administrator. */
  appoint(userId: UserId, metadata: MetadataContext): Promise<void>;
  /**
   * Announces that a user stops being an administrator, or refuses with `last_administrator`. Deactivated
   * accounts do not count as remaining.
   */
  leave(leaver: Leaver, metadata: MetadataContext): Promise<void>;
};

type Leaver = {
  readonly userId: UserId;
  readonly userVersion: Version;
  /** Service accounts have no address. They cannot sign in, so they do not count as the remaining person. */
  readonly hasAddress: boolean;
  /** An erasure that is repeated after a restore is not refused. */
  readonly mayBeLast: boolean;
};

type Dependencies = AppendDependencies & {
  readonly domain: Domain;
  readonly pool: Pick<Pool, 'query'>;
  readonly clock: Clock;
};

/** The time after which an announced append is fenced off. */
const USE_MAX_MS = 2_000;
const LOOK_AGAIN_MS = 50;
const TIMEOUT_MS = 8_000;
/** Administrators from before the first announcement are found in the read model. */
const LISTED_MAX = 1_000;

export const createAdministratorKeeper = (dependencies: Dependencies): AdministratorKeeper => ({
  appoint: (userId, metadata) =>
    untilDone(dependencies, async () => {
      const from = await dependencies.states.load(administrators, ADMINISTRATORS);
      const events = administrators.decide({ type: 'Appoint', userId }, from.state);
      return tryAppend(
        dependencies,
        { decider: administrators, stream: ADMINISTRATORS, from, events },
        metadata,
      );
    }),
  leave: (leaver, metadata) =>
    untilDone(dependencies, async () => {
      const { userId, userVersion, mayBeLast } = leaver;
      const from = await dependencies.states.load(administrators, ADMINISTRATORS);
      const others = mayBeLast ? 'stay' : await findOthers(dependencies, from.state, leaver);
      if (others === 'none') throw new Rejection('last_administrator');
      if (others !== 'stay') {
        await settle(dependencies, others, metadata);
        return false;
      }
      const events = administrators.decide(
        { type: 'Leave', userId, userVersion, at: metadata.at },
        from.state,
      );
      return tryAppend(
        dependencies,
        { decider: administrators, stream: ADMINISTRATORS, from, events },
        metadata,
      );
    }),
});

const untilDone = async ({ clock }: Dependencies, attempt: () => Promise<boolean>): Promise<void> => {
  const endMs = clock.elapsedMs() + TIMEOUT_MS;
  while (clock.elapsedMs() < endMs) if (await attempt()) return;
  throw new Rejection('conflict');
};

type Undecided = Leaving & { readonly userId: UserId };

/**
 * Returns whether another administrator stays; if none does, the one whose announced departure may still
 * fail.
 */
const findOthers = async (
  dependencies: Dependencies,
  { announced }: AdministratorsState,
  leaver: Leaver,
): Promise<'stay' | 'none' | Undecided> => {
  let undecided: Undecided | undefined;
  for await (const userId of candidates(dependencies, announced)) {
    if (userId === leaver.userId) continue;
    const { state, version } = await dependencies.states.load(
      usersOf(dependencies.domain),
      userStream(userId),
    );
    if (!isAdministrator(state, leaver)) continue;
    if (await isDeactivated(dependencies.pool, userId)) continue;
    const leaving = announced[userId];
    if (!leaving || version > leaving.userVersion) return 'stay';
    undecided ??= { ...leaving, userId };
  }
  return undecided ?? 'none';
};

/** The name is `null` while an erasure is in progress. */
const isAdministrator = (state: AggregateState, { hasAddress }: Leaver): boolean => {
  const profile = profileOf(state);
  return profile?.role === 'admin' && profile.name !== null && (profile.email !== null || !hasAddress);
};

/** The announced users first, then those in the read model. */
async function* candidates(
  { pool }: Dependencies,
  announced: AdministratorsState['announced'],
): AsyncGenerator<UserId> {
  for (const userId of Object.keys(announced)) yield Number(userId) as UserId;
  for (const userId of await selectAdministrators(pool).catch(noneIfUnmade))
    if (!(userId in announced)) yield userId;
}

const selectAdministrators = async (pool: Pick<Pool, 'query'>): Promise<readonly UserId[]> => {
  const { rows } = await pool.query<{ id: UserId }>(
    `select id from ${LIVE_SCHEMA}.users where role = 'admin' and deleted_at is null order by created_at, id limit ${LISTED_MAX}`,
  );
  return rows.map(({ id }) => id);
};

/**
 * Nobody can sign in to a deactivated account. Waits for a deactivation in progress, which locks this row
 * before it reads in the log whether its user is an administrator. So either it finds the role that
 * was read here before, and is refused, or it is found here.
 */
export const isDeactivated = async (pool: Pick<Pool, 'query'>, userId: UserId): Promise<boolean> => {
  const { rows } = await pool
    .query<{ isDeactivated: boolean }>(
      `select deactivated_at is not null as "isDeactivated" from auth.person where user_id = $1 for share`,
      [userId],
    )
    .catch(noneIfNotStarted);
  return rows[0]?.isDeactivated ?? false;
};

/** Nobody was deactivated before the authorization server has started. */
const noneIfNotStarted = (error: unknown): { readonly rows: readonly never[] } => {
  if (isUndefinedTable(error)) return { rows: [] };
  throw error;
};

/** Without a read model, the projector has not started, and there are no earlier administrators. */
const noneIfUnmade = (error: unknown): readonly UserId[] => {
  if (isUndefinedTable(error)) return [];
  throw error;
};

/** Waits for an append that was announced just now; fences off an old one. */
const settle = async (
  dependencies: Dependencies,
  { userId, userVersion, at }: Undecided,
  metadata: MetadataContext,
): Promise<void> => {
  // If clocks differ by more than that, an announcement counts as old, which is safe because of the fence.
  const { clock } = dependencies;
  if (Math.abs(clock.nowMs() - Date.parse(at)) <= USE_MAX_MS) return clock.sleep(LOOK_AGAIN_MS);
  const stream = userStream(userId);
  const users = usersOf(dependencies.domain);
  const from = await dependencies.states.load(users, stream);
  if (from.version > userVersion) return;
  const events = abandonEmail(dependencies.domain, userId, announcementName(userVersion), from.state);
  await tryAppend(dependencies, { decider: users, stream, from, events }, metadata);
};

/**
 * One stream for all administrators keeps at least one of them without a lock:
 *
 * 1. A departure (a deletion, another role) is announced here first, with the version that the append to the
 * user’s stream will expect. The announcement expects the version of this stream at which another
 * administrator was found. 2. A user whose stream still has the announced version does not count as staying,
 * because the append may be in flight. 3. If nobody else is left, the fence `AbandonEmail` advances that
 * stream, so that the late append fails and the user stays.
 *
 * A crash between the steps leaves at worst an announcement that must be fenced off. Appointments are
 * announced too, as candidates to look at; the stream of each user decides.
 */
const ADMINISTRATORS: StreamName = streamName('administrators', 'all');

/** Identifies one announcement in the fence. */
const announcementName = (userVersion: Version): string => `${ADMINISTRATORS}@${userVersion}`;

type AdministratorEvent = EventOf<'administrator.appointed' | 'administrator.leaving'>;

type Leaving = { readonly userVersion: Version; readonly at: string };

/** Every user who was ever announced, with the latest announced departure. */
type AdministratorsState = { readonly announced: Readonly<Record<string, Leaving | null>> };

type AdministratorCommand =
  | { readonly type: 'Appoint'; readonly userId: UserId }
  /** `userVersion` is the version that the append to the user’s stream will expect. */
  | { readonly type: 'Leave'; readonly userId: UserId; readonly userVersion: Version; readonly at: string };

const administrators: Decider<AdministratorsState, AdministratorCommand, AdministratorEvent> = {
  initial: { announced: {} },

  decide(command, { announced }) {
    const { userId } = command;
    const known = announced[userId];
    switch (command.type) {
      case 'Appoint':
        return known === undefined ? [{ type: 'administrator.appointed', data: { userId } }] : [];
      case 'Leave': {
        const { userVersion, at } = command;
        // The user has not counted as staying since the announcement, so nobody has left because of them.
        if (known && known.userVersion >= userVersion) return [];
        return [{ type: 'administrator.leaving', data: { userId, userVersion, at } }];
      }
    }
  },

  evolve({ announced }, event) {
    switch (event.type) {
      case 'administrator.appointed':
        return { announced: { ...announced, [event.data.userId]: announced[event.data.userId] ?? null } };
      case 'administrator.leaving': {
        const { userId, userVersion, at } = event.data;
        return { announced: { ...announced, [userId]: { userVersion, at } } };
      }
    }
  },
};
