import { randomUUID } from 'node:crypto';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { selectDestroyed } from '#shared/keys/postgres/statements.ts';
import type { Log } from '#shared/log.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { deleteSnapshotsOf } from '#shared/snapshots/snapshots.ts';
import { goneAmong } from '../handling/membership.ts';
import { ERASURE_LIST } from '../handling/target.ts';
import { userStream } from '../users/user.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly erasures: ErasureList;
  readonly gateway: CommandGateway;
  readonly log: Pick<Log, 'warn' | 'error'>;
};

const CALLER = { kind: 'system', name: ERASURE_LIST } as const;
const AT_ONCE = 20;

/**
 * Reconciles the list with the log. Users who were erased before the list existed are added. Listed users
 * whom the log does not show as deleted, because it was restored to an earlier time, are deleted again. The
 * consequences of a deletion follow from its event.
 */
export const catchUpWithErasures = async ({
  domain,
  pool,
  erasures,
  gateway,
  log,
}: Dependencies): Promise<void> => {
  const destroyed = await selectDestroyed(pool);
  await erasures.note(
    destroyed.map(({ subject, destroyedAt }) => ({
      userId: subject,
      at: destroyedAt.toISOString(),
      event: null,
    })),
  );
  const listed = (await erasures.read()).map(({ userId }) => userId);
  await deleteSnapshotsOf(pool, listed);
  // Covers an erasure during a rebuild or replay that did not finish.
  await eraseCopies({ pool, domain }, listed).catch((err: unknown) =>
    log.error(
      { err },
      'A read model still contains personal data of erased people: “erasure report” lists it. The next start erases it again.',
    ),
  );
  const gone = await goneAmong(pool, listed.map(userStream));
  const missing = listed.filter((userId) => !gone.has(userStream(userId)));
  const deleteAgain = async (userId: UserId): Promise<number> => {
    const { version } = await gateway.send(
      { type: 'DeleteUser', userId },
      { caller: CALLER, requestId: randomUUID() },
    );
    return version;
  };
  for (let from = 0; from < missing.length; from += AT_ONCE)
    await Promise.all(
      missing.slice(from, from + AT_ONCE).map((userId) => deleteAgain(userId).catch(orUnknown)),
    );
  if (missing.length > 0)
    log.warn(
      { users: missing.length },
      'People on the erasure list were deleted again because the log did not contain their deletion.',
    );
};

/** The log was restored to a time before the user existed. */
const orUnknown = (error: unknown): undefined => {
  if (error instanceof Rejection) return undefined;
  throw error;
};

export type EraseDependencies = {
  readonly pool: Pool;
  readonly domain: Domain;
  readonly keys: Pick<KeyStore, 'destroy'>;
  readonly erasures: Pick<ErasureList, 'note'>;
  readonly clock: Clock;
};

/**
 * Erases a user because of the deletion event. The list comes first, so that no key is destroyed whose
 * erasure a restored backup could undo.
 */
export const erase = async (
  { domain, pool, keys, erasures, clock }: EraseDependencies,
  userId: UserId,
  event: EventId,
): Promise<void> => {
  // Before anything is destroyed, because the files of a release may be gone.
  await loadCopies();
  await erasures.note([{ userId, at: new Date(clock.nowMs()).toISOString(), event }]);
  await keys.destroy(userId);
  await deleteSnapshotsOf(pool, [userId]);
  await eraseCopies({ pool, domain }, [userId]);
};

/** Needed with the first person who is erased. */
const loadCopies = () => import('#shared/erasure/erase-copies.ts');

const eraseCopies = async (
  { pool, domain }: Pick<EraseDependencies, 'pool' | 'domain'>,
  userIds: readonly UserId[],
): Promise<void> => {
  if (userIds.length === 0) return;
  const { eraseInReadModels } = await loadCopies();
  await eraseInReadModels({ pool, tables: tablesOf(domain) }, userIds);
};
