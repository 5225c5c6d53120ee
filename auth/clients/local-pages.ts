import { LRUCache } from 'lru-cache';
import type { Client, Provider } from 'oidc-provider';
import type { Domain } from '#kernel/registry/registry.ts';
import { redirectUri } from '#shared/clients/redirect-uri.ts';
import { OIDC_SCOPES } from '#shared/clients/settings.ts';
import { policyOf } from '#shared/policy.ts';
import type { StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';
import { openScopesOf } from './open-scopes.ts';

/** `annals/client` makes the same id of the origin of its page. */
const ID = /^page-(localhost|127-0-0-1)-([1-9]\d{0,4})$/;
const PORT_MAX = 65_535;

const originOf = (id: string): string | undefined => {
  const [, host, port] = ID.exec(id) ?? [];
  if (host === undefined || Number(port) > PORT_MAX) return undefined;
  return new URL(`http://${host.replaceAll('-', '.')}:${port}`).origin;
};

/** Anybody can ask for any of them. */
const KEPT_MAX = 100;

/**
 * In development, every page that the machine of its user serves is a client without registration. Its id
 * names its origin, to which alone its codes go. Its users are asked for consent, and it gets the scopes that
 * a client may register itself with. A registered client of this id replaces it.
 */
export const withLocalPages = (clients: Clients, domain: Domain): Clients => {
  const kept = new LRUCache<string, StoredClient>({ max: KEPT_MAX });
  return {
    ...clients,
    async find(id) {
      const [registered, origin] = [await clients.find(id), originOf(id)];
      if (registered !== undefined || origin === undefined) return registered;
      const page = kept.get(id) ?? pageOf(id, { origin, domain });
      kept.set(id, page);
      return page;
    },
  };
};

/** It is as old as everything, so that no grant predates it. */
const ALWAYS = new Date(0);

type Page = { readonly origin: string; readonly domain: Domain };

const pageOf = (clientId: string, { origin, domain }: Page): StoredClient => {
  const scopes = openScopesOf(policyOf(domain));
  return {
    clientId,
    name: `A page in development at ${origin}`,
    localOrigin: origin,
    tokenEndpointAuthMethod: 'none',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: [`${origin}/`],
    postLogoutRedirectUris: [`${origin}/`],
    scopes: [...OIDC_SCOPES, ...scopes],
    defaultScopes: [...scopes],
    firstParty: false,
    requireDpop: false,
    requirePar: false,
    disabled: false,
    selfRegistered: false,
    version: 1,
    createdAt: ALWAYS,
    updatedAt: ALWAYS,
  };
};

/** The page may be at any path of its origin; for all other clients, every character counts. */
export const allowLocalPaths = (provider: Provider): void => {
  const { prototype } = provider.Client;
  const { redirectUriAllowed } = prototype;
  Object.assign(prototype, {
    redirectUriAllowed(this: Client, value: string) {
      const { localOrigin } = this;
      if (typeof localOrigin !== 'string') return redirectUriAllowed.call(this, value);
      return redirectUri.safeParse(value).success && new URL(value).origin === localOrigin;
    },
  });
};
