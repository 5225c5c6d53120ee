import { LRUCache } from 'lru-cache';
import type { By } from './by.ts';
import { changeClient, type Edit, removeClient, rotateSecret } from './change-client.ts';
import type { ClientAndSecret, StoredClient } from './client.ts';
import { selectClient, selectClients } from './client-table.ts';
import { CACHE_MS } from './end.ts';
import { type ClientDependencies, type NewClient, registerClient } from './register-client.ts';
import { isSecret } from './secret.ts';

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
  remove(clientId: string, ifVersions: readonly number[] | undefined, by: By): Promise<void>;
};

const CACHED_MAX = 1_000;

export const createClients = (dependencies: ClientDependencies): Clients => {
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
    register: (wanted, by) => registerClient(dependencies, wanted, by),
    change: (clientId, edit, by) => forgetting(clientId, changeClient(dependencies, { clientId, ...edit }, by)),
    rotateSecret: (clientId, by) => forgetting(clientId, rotateSecret(dependencies, clientId, by)),
    remove: (clientId, ifVersions, by) => forgetting(clientId, removeClient(dependencies, { clientId, ifVersions }, by)),
  };
};
