import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { UserId } from '#shared/brands.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { Role } from '#shared/events/fields.ts';
import { REVOCATION_SETTLES_MS, revoke } from '#shared/http/authenticate/revocations.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Persons } from '../accounts/directory.ts';
import type { RecordSecurityEvent } from '../security-log.ts';
import { type By, circumstancesOf } from './by.ts';
import { changedFields, endsTokens } from './changes.ts';
import { type ClientSettings, hasSecret, type StoredClient, settingsOf } from './client.ts';
import { deleteClient, insertClient, selectClient, selectClientForUpdate, selectClients, updateClient } from './client-table.ts';
import { hashSecret, isSecret, newSecret } from './secret.ts';
import { makeRoom } from './self-registered.ts';

/** A secret is there exactly when one was made just now; it is never seen again. */
export type ClientAndSecret = { readonly client: StoredClient; readonly secret: string | undefined };

type NewClient = { readonly clientId?: string | undefined; readonly settings: ClientSettings; readonly selfRegistered?: boolean };

/** The applications that may ask for tokens. */
export type Clients = {
  /** May be behind by `CACHE_MS`. */
  find(clientId: string): Promise<StoredClient | undefined>;
  verifySecret(clientId: string, secret: string): Promise<boolean>;
  /** In the order of their ids, after one of them. */
  list(after: string, limit: number): Promise<readonly StoredClient[]>;
  register(wanted: NewClient, by: By): Promise<ClientAndSecret>;
  change(clientId: string, edit: Edit, by: By): Promise<ClientAndSecret>;
  rotateSecret(clientId: string, by: By): Promise<ClientAndSecret>;
  remove(clientId: string, ifVersion: number | undefined, by: By): Promise<void>;
};

type Edit = { readonly ifVersion?: number | undefined; apply(settings: ClientSettings): ClientSettings };

type Dependencies = {
  readonly pool: Pool;
  readonly gateway: CommandGateway;
  /** Knows a service account before it is asked for a token. */
  readonly persons: Pick<Persons, 'register'>;
  readonly record: RecordSecurityEvent;
  /** Ends what was granted to a client, once it is no more. */
  endGrants(clientId: string): Promise<void>;
};

/** Less than a revocation takes to settle, so that what was issued by an old reading is revoked with the rest. */
const CACHE_MS = 1_000;
const CACHED_MAX = 1_000;
const ID_BYTES = 16;

export const createClients = (dependencies: Dependencies): Clients => {
  const { pool } = dependencies;
  const cache = new LRUCache<string, Promise<StoredClient | undefined>>({ max: CACHED_MAX, ttl: CACHE_MS });
  const find = (clientId: string): Promise<StoredClient | undefined> => {
    const known = cache.get(clientId);
    if (known !== undefined) return known;
    const found = selectClient(pool, clientId);
    cache.set(clientId, found);
    // A client that is not there yet may be in a moment, and asking for it again costs little.
    found.then(
      (client) => client ?? cache.delete(clientId),
      () => cache.delete(clientId),
    );
    return found;
  };
  /** Whoever made a change sees it; the other processes do after a moment. */
  const forgetting = async <Result>(clientId: string, work: Promise<Result>): Promise<Result> => {
    const result = await work;
    cache.delete(clientId);
    return result;
  };
  return {
    find,
    async verifySecret(clientId, secret) {
      const client = await find(clientId);
      return client?.secretHash !== undefined && !client.disabled && isSecret(secret, client.secretHash);
    },
    list: (after, limit) => selectClients(pool, after, limit),
    register: (wanted, by) => register(dependencies, wanted, by),
    change: (clientId, edit, by) => forgetting(clientId, change(dependencies, { clientId, ...edit }, by)),
    rotateSecret: (clientId, by) => forgetting(clientId, rotateSecret(dependencies, clientId, by)),
    remove: (clientId, ifVersion, by) => forgetting(clientId, remove(dependencies, { clientId, ifVersion }, by)),
  };
};

/** The event is recorded before the change is committed: of the two it is the one that must not be missing. */
const register = async (dependencies: Dependencies, wanted: NewClient, by: By): Promise<ClientAndSecret> => {
  const { settings, selfRegistered = false, clientId = randomBytes(ID_BYTES).toString('hex') } = wanted;
  if ((await selectClient(dependencies.pool, clientId)) !== undefined) throw new Rejection('client_id_taken');
  if (selfRegistered) await makeRoom(dependencies, by);
  const secret = hasSecret(settings.tokenEndpointAuthMethod) ? newSecret() : undefined;
  const serviceAccount = await serviceAccountFor(dependencies, settings, by);
  const client = await inTransaction(dependencies.pool, async (connection) => {
    const secretHash = secret === undefined ? undefined : hashSecret(secret);
    const inserted = await insertClient(connection, { ...settings, clientId, secretHash, serviceAccount, selfRegistered });
    await dependencies.record({ type: 'client.registered', data: { clientId, selfRegistered } }, circumstancesOf(by));
    return inserted;
  });
  return { client, secret };
};

const change = async (
  dependencies: Dependencies,
  { clientId, ifVersion, apply }: Edit & { clientId: string },
  by: By,
): Promise<ClientAndSecret> => {
  const { before, after, secret } = await inTransaction(dependencies.pool, async (connection) => {
    const before = await lock(connection, clientId, ifVersion);
    const settings = apply(settingsOf(before));
    if (settings.serviceAccountRole !== undefined && before.serviceAccount !== undefined) {
      throw new Rejection('invalid_command', { pointer: '/serviceAccountRole', user: before.serviceAccount });
    }
    const changed = changedFields(settingsOf(before), settings);
    if (changed.length === 0) return { before, after: before, secret: undefined };
    const wantsSecret = hasSecret(settings.tokenEndpointAuthMethod);
    const secret = wantsSecret && before.secretHash === undefined ? newSecret() : undefined;
    const secretHash = secret === undefined ? before.secretHash : hashSecret(secret);
    const serviceAccount = before.serviceAccount ?? (await serviceAccountFor(dependencies, settings, by));
    const after = await updateClient(connection, {
      ...settings,
      clientId,
      secretHash: wantsSecret ? secretHash : undefined,
      serviceAccount,
    });
    if (endsTokens(before, after)) await revoke(connection, 'client', clientId);
    await dependencies.record({ type: 'client.changed', data: { clientId, changed } }, circumstancesOf(by));
    return { before, after, secret };
  });
  if (after.disabled && !before.disabled) await dependencies.endGrants(clientId);
  else if (endsTokens(before, after)) await delay(REVOCATION_SETTLES_MS);
  return { client: after, secret };
};

const rotateSecret = async (dependencies: Dependencies, clientId: string, by: By): Promise<ClientAndSecret> => {
  const secret = newSecret();
  const client = await inTransaction(dependencies.pool, async (connection) => {
    const before = await lock(connection, clientId, undefined);
    if (!hasSecret(before.tokenEndpointAuthMethod)) throw new Rejection('client_without_secret');
    const { serviceAccount } = before;
    const rotated = await updateClient(connection, { ...settingsOf(before), clientId, serviceAccount, secretHash: hashSecret(secret) });
    await revoke(connection, 'client', clientId);
    await dependencies.record({ type: 'client.secret_rotated', data: { clientId } }, circumstancesOf(by));
    return rotated;
  });
  await delay(REVOCATION_SETTLES_MS);
  return { client, secret };
};

/** Its service account stays: it is the author of what the client wrote. */
const remove = async (
  dependencies: Dependencies,
  { clientId, ifVersion }: { clientId: string; ifVersion: number | undefined },
  by: By,
): Promise<void> => {
  await inTransaction(dependencies.pool, async (connection) => {
    await lock(connection, clientId, ifVersion);
    await deleteClient(connection, clientId);
    await revoke(connection, 'client', clientId);
    await dependencies.record({ type: 'client.deleted', data: { clientId } }, circumstancesOf(by));
  });
  await dependencies.endGrants(clientId);
};

const lock = async (connection: Connection, clientId: string, ifVersion: number | undefined): Promise<StoredClient> => {
  const client = await selectClientForUpdate(connection, clientId);
  if (client === undefined) throw new Rejection('client_not_found');
  if (ifVersion !== undefined && client.version !== ifVersion) throw new Rejection('version_mismatch');
  return client;
};

const SERVICE_ACCOUNT_ROLE: Role = 'reader';

/** A client that acts for itself is a user of its own, registered as every other user is. */
const serviceAccountFor = async ({ gateway, persons }: Dependencies, settings: ClientSettings, by: By): Promise<UserId | undefined> => {
  if (!settings.grantTypes.includes('client_credentials')) return undefined;
  const { name, serviceAccountRole: role = SERVICE_ACCOUNT_ROLE } = settings;
  const { requestId } = by;
  const context = { caller: { kind: 'system', name: 'clients' }, requestId, idempotencyKey: `service-account-${randomUUID()}` } as const;
  const { id, version } = await gateway.send({ type: 'RegisterUser', name, email: null, role }, context);
  const userId = id as UserId;
  await persons.register({ userId, version, email: null, role });
  return userId;
};
