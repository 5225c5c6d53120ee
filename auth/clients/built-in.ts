import type { Domain } from '#kernel/registry/registry.ts';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { StoredClient } from './client.ts';
import type { Clients } from './clients.ts';

/** The id of our own console, which every installation has without anybody registering it. */
export const CONSOLE = 'console';

/** What development begins with. It is brought up to the scopes of the domain with every start. */
export const DEVELOPMENT_ADMIN = 'development-admin';

/**
 * The clients that were registered, and the console. It is in no table, so that nobody can change or remove
 * it, and so that it goes along when the installation gets another address. It can ask for everything: the
 * role of its user limits what comes of it.
 */
export const withConsole = (clients: Clients, domain: Domain, publicUrl: string): Clients => {
  const client = consoleOf(publicUrl, policyOf(domain).scopes);
  const changing = async <Result>(clientId: string, work: () => Promise<Result>): Promise<Result> => {
    if (clientId === CONSOLE) throw new Rejection('client_built_in');
    return work();
  };
  return {
    find: async (clientId) => (clientId === CONSOLE ? client : clients.find(clientId)),
    verifySecret: async (clientId, secret) => clientId !== CONSOLE && clients.verifySecret(clientId, secret),
    async list(after, limit) {
      // An earlier release may have let somebody register this id.
      const others = (await clients.list(after, limit)).filter(({ clientId }) => clientId !== CONSOLE);
      return [...others, ...(after < CONSOLE ? [client] : [])].toSorted(byId).slice(0, limit);
    },
    async register(wanted, by) {
      if (wanted.clientId === CONSOLE) throw new Rejection('client_id_taken');
      return clients.register(wanted, by);
    },
    change: (clientId, edit, by) => changing(clientId, () => clients.change(clientId, edit, by)),
    rotateSecret: (clientId, by) => changing(clientId, () => clients.rotateSecret(clientId, by)),
    remove: (clientId, ifVersions, by) => changing(clientId, () => clients.remove(clientId, ifVersions, by)),
  };
};

/** As the table orders them. */
const byId = (one: StoredClient, other: StoredClient): number => (one.clientId < other.clientId ? -1 : 1);

/** It was there before anything else. */
const ALWAYS = new Date(0);

const consoleOf = (publicUrl: string, scopes: readonly string[]): StoredClient => ({
  clientId: CONSOLE,
  name: 'Console',
  tokenEndpointAuthMethod: 'none',
  grantTypes: ['authorization_code', 'refresh_token'],
  // Where the address has a path, that leads to resources, and pages are at the root.
  redirectUris: [...new Set([`${publicUrl}/console`, new URL('/console', publicUrl).href])],
  postLogoutRedirectUris: [...new Set([`${publicUrl}/console`, new URL('/console', publicUrl).href])],
  scopes: [...OIDC_SCOPES, ...scopes],
  defaultScopes: [...scopes],
  firstParty: true,
  requireDpop: false,
  requirePar: false,
  disabled: false,
  selfRegistered: false,
  version: 1,
  createdAt: ALWAYS,
  updatedAt: ALWAYS,
});
