// Over 200 lines, because it is one thing: the changes of clients, with their locks.
import { LRUCache } from 'lru-cache';
import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import type { Connection } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type ClientAndSecret, hasSecret, type StoredClient, settingsOf } from '../storage/client.ts';
import type { EndedGrant } from '../storage/end-records.ts';
import { type By, type SettledBy, securityContextOf } from './by.ts';
import { changedFields, type Ending, endingOf } from './changes.ts';
import {
  deleteClient,
  isProven,
  selectClient,
  selectClientForUpdate,
  selectClients,
  updateClient,
} from './client-table.ts';
import { selectUses } from './client-uses.ts';
import { demandScopes } from './demand-rights.ts';
import { CACHE_MS, endAgain, endFor } from './end.ts';
import { type ClientDependencies, type NewClient, registerClient } from './register-client.ts';
import { hashSecret, isSecret, newSecret } from './secret.ts';
import { actsForItself, makeServiceAccount } from './service-account.ts';

/** The applications that may ask for tokens. */
export type Clients = {
  /** Up to `CACHE_MS` old. */
  find(clientId: string): Promise<StoredClient | undefined>;
  verifySecret(clientId: string, secret: string): Promise<boolean>;
  /** In the order of ids, starting after `after`. */
  list(after: string, limit: number): Promise<readonly StoredClient[]>;
  /** When each last got a token, to within an hour. */
  usesOf(clientIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
  /** Writes call `by.settle` in their transaction. */
  register(wanted: NewClient, by: SettledBy<ClientAndSecret>): Promise<ClientAndSecret>;
  change(clientId: string, edit: Edit, by: SettledBy<ClientAndSecret>): Promise<ClientAndSecret>;
  rotateSecret(clientId: string, by: SettledBy<ClientAndSecret>): Promise<ClientAndSecret>;
  remove(clientId: string, ifVersions: readonly number[] | undefined, by: SettledBy<void>): Promise<void>;
};

const CACHED_MAX = 1_000;

export const createClients = (dependencies: ClientDependencies): Clients => {
  const { pool } = dependencies;
  const cache = new LRUCache<string, Promise<StoredClient | undefined>>({ max: CACHED_MAX, ttl: CACHE_MS });
  const find = (clientId: string): Promise<StoredClient | undefined> => {
    const known = cache.get(clientId);
    if (known !== undefined) return known;
    const found = selectProven(dependencies, clientId);
    cache.set(clientId, found);
    // An unknown client may be registered in a moment, and the lookup is cheap: do not cache it.
    found.then(
      (client) => client ?? cache.delete(clientId),
      () => cache.delete(clientId),
    );
    return found;
  };
  /** The process that made a change sees it at once; others see it after a moment. */
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
    usesOf: (clientIds) => selectUses(pool, clientIds),
    register: (wanted, by) => registerClient(dependencies, wanted, by),
    change: (clientId, edit, by) =>
      forgetting(clientId, changeClient(dependencies, { clientId, ...edit }, by)),
    rotateSecret: (clientId, by) => forgetting(clientId, rotateSecret(dependencies, clientId, by)),
    remove: (clientId, ifVersions, by) =>
      forgetting(clientId, removeClient(dependencies, { clientId, ifVersions }, by)),
  };
};

type Edit = {
  readonly ifVersions?: readonly number[] | undefined;
  apply(settings: ClientSettings): ClientSettings;
};
type EditOfOne = Edit & { readonly clientId: string };

type Changed = ClientAndSecret & { readonly ending: Ending; readonly ended: readonly EndedGrant[] };

/** Records the event before the change is committed: a missing event would be worse than an extra one. */
const changeClient = async (
  dependencies: ClientDependencies,
  edit: EditOfOne,
  by: SettledBy<ClientAndSecret>,
): Promise<ClientAndSecret> => {
  const { clientId } = edit;
  const { rowProofs } = dependencies;
  const account = await accountFor(dependencies, edit, by);
  const { client, secret, ending, ended } = await inTransaction(
    dependencies.pool,
    async (connection): Promise<Changed> => {
      const before = await lockProven(dependencies, connection, edit);
      const settings = editedBy(edit, before, by);
      const changed = changedFields(settingsOf(before), settings);
      if (changed.length === 0) {
        const unchanged = { client: before, secret: undefined };
        await by.settle?.(connection, unchanged);
        return { ...unchanged, ending: 'nothing', ended: [] };
      }
      const serviceAccount = before.serviceAccount ?? account;
      // Somebody else has changed the client after we decided that it needs no account.
      if (serviceAccount === undefined && actsForItself(settings)) throw new Rejection('conflict');
      const wantsSecret = hasSecret(settings.tokenEndpointAuthMethod);
      const secret = wantsSecret && before.secretHash === undefined ? newSecret() : undefined;
      const kept = secret === undefined ? before.secretHash : hashSecret(secret);
      const secretHash = wantsSecret ? kept : undefined;
      const { selfRegistered } = before;
      const kinds = { clientId, selfRegistered, secretHash, serviceAccount };
      const after = await updateClient({ database: connection, rowProofs }, { ...settings, ...kinds });
      const ending = endingOf(before, after);
      const ended = await endFor(connection, clientId, ending);
      await dependencies.record(
        { type: 'client.changed', data: { clientId, changed } },
        securityContextOf(by),
      );
      await by.settle?.(connection, { client: after, secret });
      return { client: after, secret, ending, ended };
    },
  );
  await endAgain(dependencies, { clientId, ending, ended });
  return { client, secret };
};

/** The service account that an edit will need, judged before the client is locked. */
const accountFor = async (
  dependencies: ClientDependencies,
  edit: EditOfOne,
  by: By,
): Promise<UserId | undefined> => {
  const known = await selectProven(dependencies, edit.clientId);
  if (known === undefined || known.serviceAccount !== undefined || isOther(known, edit.ifVersions))
    return undefined;
  return makeServiceAccount(
    dependencies,
    { clientId: edit.clientId, settings: editedBy(edit, known, by) },
    by,
  );
};

const editedBy = ({ apply }: Edit, before: StoredClient, { caller }: By): ClientSettings => {
  const settings = apply(settingsOf(before));
  if (settings.serviceAccountRole !== undefined && before.serviceAccount !== undefined) {
    throw new Rejection('invalid_command', { pointer: '/serviceAccountRole', user: before.serviceAccount });
  }
  // Anybody with the right to manage clients may disable one, whatever it can do.
  if (changedFields(settingsOf(before), settings).some((field) => field !== 'disabled'))
    demandScopes(caller, settings.scopes);
  return settings;
};

/** A caller who gets a client's secret can do what the client can. */
const rotateSecret = async (
  dependencies: ClientDependencies,
  clientId: string,
  by: SettledBy<ClientAndSecret>,
): Promise<ClientAndSecret> => {
  const secret = newSecret();
  const { pool, rowProofs } = dependencies;
  const client = await inTransaction(pool, async (connection) => {
    const before = await lockProven(dependencies, connection, { clientId });
    if (!hasSecret(before.tokenEndpointAuthMethod)) throw new Rejection('client_without_secret');
    demandScopes(by.caller, before.scopes);
    const { serviceAccount, selfRegistered } = before;
    const kinds = { clientId, selfRegistered, serviceAccount, secretHash: hashSecret(secret) };
    const written = { ...settingsOf(before), ...kinds };
    const rotated = await updateClient({ database: connection, rowProofs }, written);
    await endFor(connection, clientId, 'tokens');
    await dependencies.record({ type: 'client.secret_rotated', data: { clientId } }, securityContextOf(by));
    await by.settle?.(connection, { client: rotated, secret });
    return rotated;
  });
  await endAgain(dependencies, { clientId, ending: 'tokens', ended: [] });
  return { client, secret };
};

/** Its service account stays, because it is the author of what the client wrote. */
const removeClient = async (
  dependencies: ClientDependencies,
  { clientId, ifVersions }: { readonly clientId: string; readonly ifVersions: readonly number[] | undefined },
  by: SettledBy<void>,
): Promise<void> => {
  const ended = await inTransaction(dependencies.pool, async (connection) => {
    await lock(connection, clientId, ifVersions);
    await deleteClient(connection, clientId);
    const ended = await endFor(connection, clientId, 'grants');
    await dependencies.record({ type: 'client.deleted', data: { clientId } }, securityContextOf(by));
    await by.settle?.(connection);
    return ended;
  });
  await endAgain(dependencies, { clientId, ending: 'grants', ended });
};

type Proving = Pick<ClientDependencies, 'pool' | 'rowProofs'>;

const selectProven = async (
  { pool, rowProofs }: Proving,
  clientId: string,
): Promise<StoredClient | undefined> => {
  const client = await selectClient(pool, clientId);
  return (await isProven(rowProofs, client)) ? client : undefined;
};

/** A changed row gets a proof. So one without is as good as absent, though it can be removed. */
const lockProven = async (
  { rowProofs }: Pick<Proving, 'rowProofs'>,
  connection: Connection,
  { clientId, ifVersions }: Pick<EditOfOne, 'clientId' | 'ifVersions'>,
): Promise<StoredClient> => {
  const client = await lock(connection, clientId, ifVersions);
  if (!(await isProven(rowProofs, client))) throw new Rejection('client_not_found');
  return client;
};

const lock = async (
  connection: Connection,
  clientId: string,
  ifVersions: readonly number[] | undefined,
): Promise<StoredClient> => {
  const client = await selectClientForUpdate(connection, clientId);
  if (client === undefined) throw new Rejection('client_not_found');
  if (isOther(client, ifVersions)) throw new Rejection('version_mismatch');
  return client;
};

const isOther = ({ version }: StoredClient, ifVersions: readonly number[] | undefined): boolean =>
  ifVersions !== undefined && !ifVersions.includes(version);
