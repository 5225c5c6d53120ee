import Provider, { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import type { Pool } from '#shared/database/pool.ts';
import { DEVICE_INTERVAL_S, DEVICE_SLOW_DOWN_S, LIFETIMES_S } from '../security/lifetimes.ts';
import { CONSOLE } from './client.ts';
import type { EndGrant } from './end-grants.ts';
import { buryRecord } from './end-records.ts';
import type { RecordSeal } from './seal-record.ts';
import {
  consumeRecord,
  deleteRecord,
  deleteRecordsOfGrant,
  type FoundRecord,
  notePoll,
  type RecordKey,
  selectGrantOf,
  selectRecord,
  selectRecordByOtherName,
  upsertRecord,
} from './statements.ts';
import { currentVisit } from './visit.ts';

type StorageDependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly endGrant: EndGrant;
  /** Finds a client as oidc-provider describes one. */
  readonly findClient: (clientId: string) => Promise<AdapterPayload | undefined>;
};

/**
 * oidc-provider's storage. It checks whether a record was used and then marks it as used, in two steps. Here
 * the second step decides, so that exactly one of several parallel requests succeeds.
 */
export const createAdapterFactory =
  (dependencies: StorageDependencies): AdapterFactory =>
  (kind) => {
    switch (kind) {
      case 'Client':
        return clientAdapter(dependencies);
      case 'Grant':
        return grantAdapter(dependencies);
      case 'Session':
        return sessionAdapter(dependencies);
      case 'DeviceCode':
        return deviceCodeAdapter(dependencies);
      case 'RefreshToken':
        return refreshTokenAdapter(dependencies);
      default:
        return recordAdapter(kind, dependencies);
    }
  };

const recordAdapter = (kind: string, { pool, seal, endGrant }: StorageDependencies): Adapter => {
  const keyOf = (id: string): RecordKey => ({ kind, idHash: seal.hash(kind, id) });
  const open = (found: FoundRecord | undefined): AdapterPayload | undefined => {
    if (found === undefined) return undefined;
    const payload = seal.unseal(kind, found.idHash, found.sealed);
    return found.consumedAt === null
      ? payload
      : { ...payload, consumed: Math.floor(found.consumedAt.getTime() / 1_000) };
  };
  const openByOtherName = async (name: string) =>
    open(await selectRecordByOtherName(pool, kind, seal.hash(`${kind} other`, name)));
  return {
    async upsert(id, payload, expiresInS) {
      const key = keyOf(id);
      const otherName = payload.userCode ?? (kind === 'Session' ? payload.uid : undefined);
      const saved = await upsertRecord(pool, {
        ...key,
        ...stagesOf(kind, payload),
        sealed: seal.seal(kind, key.idHash, payload),
        otherHash: otherName === undefined ? null : seal.hash(`${kind} other`, otherName),
        // A prompt outlives the grant that its user had at the time.
        grantId: kind === 'Grant' ? id : kind === 'Interaction' ? null : (payload.grantId ?? null),
        accountId: payload.accountId ?? null,
        clientId: payload.clientId ?? null,
        expiresInS: expiresInS ?? null,
      });
      if (!saved) refuseSaving(kind);
    },
    find: async (id) => open(await selectRecord(pool, keyOf(id))),
    findByUserCode: openByOtherName,
    findByUid: openByOtherName,
    async consume(id) {
      if (await consumeRecord(pool, keyOf(id))) return;
      const grantId = await selectGrantOf(pool, keyOf(id));
      if (grantId !== undefined) await endGrant(grantId);
      throw kind === 'PushedAuthorizationRequest'
        ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
        : new errors.InvalidGrant('it was already used');
    },
    destroy: (id) => deleteRecord(pool, keyOf(id)),
    revokeByGrantId: (grantId) => deleteRecordsOfGrant(pool, kind, grantId),
  };
};

const refuseSaving = (kind: string): void => {
  // Every request saves its session at its end. A request that began before the sign-out gets its answer, and
  // the session stays ended.
  if (kind === 'Session') return;
  throw new errors.AccessDenied(
    kind === 'Grant' ? 'the grant has just been ended' : 'the code is already in use',
  );
};

/** RFC 8628: a code waits for a person, is claimed by one, and is decided by that one. */
const stagesOf = (
  kind: string,
  { accountId, error, inFlight }: AdapterPayload,
): { stage: number; stageBefore: number } => {
  if (kind !== 'DeviceCode') return { stage: 0, stageBefore: 0 };
  if (accountId !== undefined || error !== undefined)
    return { stage: 2, stageBefore: inFlight === true ? 1 : 0 };
  return { stage: inFlight === true ? 1 : 0, stageBefore: 0 };
};

/** A grant ends together with everything that was issued under it. */
const grantAdapter = (dependencies: StorageDependencies): Adapter => ({
  ...recordAdapter('Grant', dependencies),
  destroy: (id) => dependencies.endGrant(id),
});

/** Prevents requests in progress from restoring a session that somebody signs out of. */
const sessionAdapter = (dependencies: StorageDependencies): Adapter => {
  const { pool, seal } = dependencies;
  const records = recordAdapter('Session', dependencies);
  const find = async (found: ReturnType<Adapter['find']>) => withConsole(await found);
  return {
    ...records,
    find: (id) => find(records.find(id)),
    findByUid: (uid) => find(records.findByUid(uid)),
    // Adds the visit to oidc-provider's data: oidc-provider returns only its own fields, but each of its
    // requests saves the session.
    upsert: (id, payload, expiresInS) => records.upsert(id, { ...payload, seen: currentVisit() }, expiresInS),
    destroy: (id) => buryRecord(pool, { kind: 'Session', idHash: seal.hash('Session', id) }),
  };
};

/**
 * An earlier release let the console outlive the sign-out. oidc-provider never takes that back, so sessions of
 * then would still do so.
 */
const withConsole = (session: Awaited<ReturnType<Adapter['find']>>): AdapterPayload | undefined => {
  const { [CONSOLE]: ofConsole, ...others } = session?.authorizations ?? {};
  if (!session || ofConsole?.persistsLogout !== true) return session ?? undefined;
  const { persistsLogout: _, ...bound } = ofConsole;
  return { ...session, authorizations: { ...others, [CONSOLE]: bound } };
};

/** Tokens of the console from an earlier release are bound to their session by their next use. */
const refreshTokenAdapter = (dependencies: StorageDependencies): Adapter => {
  const records = recordAdapter('RefreshToken', dependencies);
  return {
    ...records,
    async find(id) {
      const found = await records.find(id);
      return found?.clientId === CONSOLE ? { ...found, expiresWithSession: true } : found;
    },
  };
};

/** At the token endpoint, only a polling device looks up a device code. */
const deviceCodeAdapter = (dependencies: StorageDependencies): Adapter => {
  const records = recordAdapter('DeviceCode', dependencies);
  return {
    ...records,
    async find(id) {
      const found = await records.find(id);
      if (found !== undefined && Provider.ctx?.oidc.route === 'token') await refuseHaste(dependencies, id);
      return found;
    },
  };
};

const refuseHaste = async ({ pool, seal }: StorageDependencies, id: string): Promise<void> => {
  const idHash = seal.hash('DeviceCode', id);
  const poll = {
    idHash,
    intervalS: DEVICE_INTERVAL_S,
    slowDownByS: DEVICE_SLOW_DOWN_S,
    lifetimeS: LIFETIMES_S.DeviceCode,
  };
  if ((await notePoll(pool, poll)) === 'too_soon') throw new errors.SlowDown();
};

/** Clients are managed elsewhere; this only finds them. */
const clientAdapter = ({ findClient }: StorageDependencies): Adapter => {
  const refuse = () => Promise.reject(new Error('clients are not stored here'));
  return {
    find: findClient,
    upsert: refuse,
    findByUserCode: refuse,
    findByUid: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
};
