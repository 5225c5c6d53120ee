import { Rejection } from '#kernel/base/rejection.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import { CONSOLE, type StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';

/** The client of a new development installation. Every start gives it all scopes of the domain. */
export const DEVELOPMENT_ADMIN = 'development-admin';

/**
 * The registered clients and the console, if it is served. The console is in no table, so that nobody can change or remove it,
 * and so that it follows the installation's address. It may ask for every scope: the role of its user limits
 * its rights.
 */
export const withConsole = (clients: Clients, domain: Domain, publicUrl: string): Clients => {
  if (!serves(domain, 'console')) return clients;
  const client = consoleOf(domain, publicUrl);
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
    usesOf: clients.usesOf,
    async register(wanted, by) {
      if (wanted.clientId === CONSOLE) throw new Rejection('client_id_taken');
      return clients.register(wanted, by);
    },
    change: (clientId, edit, by) => changing(clientId, () => clients.change(clientId, edit, by)),
    rotateSecret: (clientId, by) => changing(clientId, () => clients.rotateSecret(clientId, by)),
    remove: (clientId, ifVersions, by) => changing(clientId, () => clients.remove(clientId, ifVersions, by)),
  };
};

/** The same order as the table. */
const byId = (one: StoredClient, other: StoredClient): number => (one.clientId < other.clientId ? -1 : 1);

/** The console predates everything. */
const ALWAYS = new Date(0);

const consoleOf = (domain: Domain, publicUrl: string): StoredClient => {
  const { scopes } = policyOf(domain);
  // If the address has a path, resources are below it; pages are at the root.
  const pages = [...new Set([`${publicUrl}/console`, new URL('/console', publicUrl).href])];
  // GraphiQL signs in as the console does.
  const editors = serves(domain, 'graphql') ? [`${publicUrl}/graphql`] : [];
  return {
    clientId: CONSOLE,
    name: 'Console',
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: [...pages, ...editors],
    postLogoutRedirectUris: pages,
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
  };
};
