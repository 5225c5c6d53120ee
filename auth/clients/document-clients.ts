import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { type CorsOrigins, isAllowedOrigin } from '#edge/http/cors.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { createSemaphore } from '../security/semaphore.ts';
import type { StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';
import type { FetchDocument } from './fetch-document.ts';
import { openSettingsOf } from './registration.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly origins: CorsOrigins;
  readonly documents: Pick<FetchDocument, 'fetch'>;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowMs'>;
};

const KEPT_MAX = 1_000;
const KEPT_MS = 600_000;
/** A failed fetch is not repeated for each request of a browser. */
const FAILED_MS = 10_000;
const AT_ONCE_MAX = 8;
const WAITING_MAX = 32;

/**
 * Clients whose id is the address of their registration (OAuth Client ID Metadata Document). They are as clients
 * that register themselves: public, with limited scopes, and their users are asked for consent.
 */
export const withDocuments = (clients: Clients, dependencies: Dependencies): Clients => {
  const { origins, log } = dependencies;
  const slots = createSemaphore({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  const known = new LRUCache<string, Promise<StoredClient | undefined>>({ max: KEPT_MAX, ttl: KEPT_MS });
  const read = async (id: string): Promise<StoredClient | undefined> => {
    try {
      return clientIn(dependencies, id, await slots(() => dependencies.documents.fetch(id)));
    } catch (err) {
      log.info({ err, client: id }, 'The document of a client could not be read.');
      return undefined;
    }
  };
  const find = async (id: string): Promise<StoredClient | undefined> => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const reading = read(id);
    known.set(id, reading);
    if ((await reading) === undefined) known.set(id, reading, { ttl: FAILED_MS });
    return reading;
  };
  return {
    ...clients,
    find: (id) => (isDocumentOf(origins, id) ? find(id) : clients.find(id)),
  };
};

/** With the id of another client beside it, the name of an agent in events has 200 characters at most. */
const ADDRESS_CHARACTERS_MAX = 128;
const ADDRESS = /^https:\/\/[a-z0-9.-]+(?::\d+)?\/[\w.~/-]+$/;

/** Only one spelling of each address, without anything that a parser changes. */
const isDocumentOf = (origins: CorsOrigins, id: string): boolean =>
  id.length <= ADDRESS_CHARACTERS_MAX &&
  ADDRESS.test(id) &&
  URL.parse(id)?.href === id &&
  isAllowedOrigin(origins, new URL(id).origin);

/** Required of the document beside the metadata of a registration. */
const Named = z.object({
  client_id: z.string(),
  client_secret: z.undefined().optional(),
  token_endpoint_auth_method: z.literal('none').optional(),
});

const clientIn = (
  { domain, clock }: Pick<Dependencies, 'domain' | 'clock'>,
  id: string,
  document: unknown,
): StoredClient => {
  if (Named.parse(document).client_id !== id) throw new Error('The document names another client_id.');
  const { tlsClientAuthSubject: _subject, jwks: _jwks, ...settings } = openSettingsOf(domain, document);
  const at = new Date(clock.nowMs());
  return {
    ...settings,
    clientId: id,
    // The name alone proves nothing.
    name: `${settings.name} (${new URL(id).host})`,
    selfRegistered: true,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
};
