import { setTimeout as delay } from 'node:timers/promises';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { StreamName, UserId, Version } from '#shared/brands.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import { streamName } from '#shared/events/streams.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Decider } from '../decider.ts';
import { type AppendDependencies, tryAppend } from '../try-append.ts';
import { abandonEmail, profileOf, userStream, usersOf } from '../users/user.ts';

/** Sees to it that somebody is left who can look after the installation. */
export type AdministratorKeeper = {
  /** Announces that somebody becomes an administrator. */
  appoint(userId: UserId, metadata: MetadataContext): Promise<void>;
  /** Announces that somebody stops being an administrator, or refuses with `last_administrator`. */
  leave(leaver: Leaver, metadata: MetadataContext): Promise<void>;
};

type Leaver = {
  readonly userId: UserId;
  readonly userVersion: Version;
  /** Service accounts have no address. They cannot sign in, so that they do not stand in for a person. */
  readonly hasAddress: boolean;
  /** An erasure that is made again after a restore is not refused. */
  readonly mayBeLast: boolean;
};

type Dependencies = AppendDependencies & { readonly domain: Domain; readonly pool: Pick<Pool, 'query'> };

/** How long an announced append may take before it is fenced off. */
const USE_MAX_MS = 2_000;
const LOOK_AGAIN_MS = 50;
const TIMEOUT_MS = 8_000;
/** Administrators of before the first announcement are looked for in the read model. */
const LISTED_MAX = 1_000;

export const createAdministratorKeeper = (dependencies: Dependencies): AdministratorKeeper => ({
  appoint: (userId, metadata) =>
    untilDone(async () => {
      const from = await dependencies.states.load(administrators, ADMINISTRATORS);
      const events = administrators.decide({ type: 'Appoint', userId }, from.state);
      return tryAppend(
        dependencies,
        { decider: administrators, stream: ADMINISTRATORS, from, events },
        metadata,
      );
    }),
  leave: (leaver, metadata) =>
    untilDone(async () => {
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

const untilDone = async (attempt: () => Promise<boolean>): Promise<void> => {
  const endMs = performance.now() + TIMEOUT_MS;
  while (performance.now() < endMs) if (await attempt()) return;
  throw new Rejection('conflict');
};

type Undecided = Leaving & { readonly userId: UserId };

/** Whether another one stays; if none does, the one who was announced to leave and perhaps will not. */
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
    const leaving = announced[userId];
    if (!leaving || version > leaving.userVersion) return 'stay';
    undecided ??= { ...leaving, userId };
  }
  return undecided ?? 'none';
};

/** A name of `null` is that of somebody whose erasure is on its way. */
const isAdministrator = (state: AggregateState, { hasAddress }: Leaver): boolean => {
  const profile = profileOf(state);
  return profile?.role === 'admin' && profile.name !== null && (profile.email !== null || !hasAddress);
};

/** Those who were announced, then those whom the read model knows. */
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

/** The projector has not started yet, so that there is nobody of before. */
const noneIfUnmade = (error: unknown): readonly UserId[] => {
  if (isUndefinedTable(error)) return [];
  throw error;
};

/** Waits for an append that was announced just now, and fences off an old one. */
const settle = async (
  dependencies: Dependencies,
  { userId, userVersion, at }: Undecided,
  metadata: MetadataContext,
): Promise<void> => {
  // Clocks that differ by more make an announcement old, which is safe because of the fence.
  if (Math.abs(Date.now() - Date.parse(at)) <= USE_MAX_MS) return void (await delay(LOOK_AGAIN_MS));
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
 * 1. Whoever is about to leave (a deletion, another role) is announced here first, naming the version that the append to their
 *    own stream will expect. The announcement expects the version of this stream at which somebody else was seen to stay.
 * 2. Whoever is announced at the version that their stream still has does not count as staying: the append may be on its way.
 * 3. If nobody else is left, the fence `AbandonEmail` moves that stream on, so that the late append fails and they stay.
 *
 * So a crash between the steps leaves nothing worse than an announcement to be fenced off. Appointments are
 * announced as well, for the list of those to look at; what counts is the stream of each.
 */
const ADMINISTRATORS: StreamName = streamName('administrators', 'all');

/** Names one announcement for the fence. */
const announcementName = (userVersion: Version): string => `${ADMINISTRATORS}@${userVersion}`;

type AdministratorEvent = EventOf<'administrator.appointed' | 'administrator.leaving'>;

type Leaving = { readonly userVersion: Version; readonly at: string };

/** Everybody who was ever announced, with the latest announcement that they leave. */
type AdministratorsState = { readonly announced: Readonly<Record<string, Leaving | null>> };

type AdministratorCommand =
  | { readonly type: 'Appoint'; readonly userId: UserId }
  /** `userVersion` is what the append to the user's stream will expect. */
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
        // Since the announcement they have not counted as staying, so that nobody has left because of them.
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
