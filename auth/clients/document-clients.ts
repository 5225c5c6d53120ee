import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { type CorsOrigins, isAllowedOrigin } from '#edge/http/cors.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isAddress, isExactAddress } from '#shared/clients/document-address.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import { createSemaphore, TooBusy } from '../security/semaphore.ts';
import type { StoredClient } from '../storage/client.ts';
import type { Clients } from './clients.ts';
import { type FetchDocument, NoDocument } from './fetch-document.ts';
import { openSettingsOf } from './registration.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly origins: CorsOrigins;
  readonly documents: Pick<FetchDocument, 'fetch'>;
  /** Returns whether the address of the current request may cause another fetch. */
  readonly mayFetch: () => Promise<boolean>;
  readonly log: Log;
  readonly clock: Pick<Clock, 'nowMs' | 'elapsedMs'>;
};

const KEPT_MAX = 1_000;
const FRESH_MS = 600_000;
/** While a document cannot be read again, the last one counts for so long. */
const KEPT_MS = 86_400_000;
/** A failed fetch is not repeated for each request of a browser. */
const FAILED_MS = 10_000;
/** More at once than one address may begin, so that it cannot occupy all. */
const AT_ONCE_MAX = 16;
const WAITING_MAX = 64;

type Kept = { readonly client: StoredClient; readonly readAtMs: number };
type Failure = 'unknown' | 'temporary';

/**
 * Clients whose id is the address of their registration (OAuth Client ID Metadata Document). They are as clients
 * that register themselves: public, with limited scopes, and their users are asked for consent.
 */
export const withDocuments = (clients: Clients, dependencies: Dependencies): Clients => {
  const { origins, clock, log } = dependencies;
  const slots = createSemaphore({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });
  // The cache takes a time of 0 for none.
  const perf = { now: () => clock.elapsedMs() + 1 };
  const limits = { max: KEPT_MAX, perf, ttlResolution: 0 };
  const kept = new LRUCache<string, Kept>({ ...limits, ttl: KEPT_MS });
  // Apart, because anybody can cause any number of failures.
  const failed = new LRUCache<string, Failure>({ ...limits, ttl: FAILED_MS });
  const reading = new Map<string, Promise<StoredClient | undefined>>();

  const fail = (id: string, failure: Failure): StoredClient | undefined => {
    if (failure === 'unknown') return undefined;
    const last = kept.get(id);
    if (last === undefined) throw unavailable();
    return last.client;
  };
  const fetchOnce = async (id: string): Promise<StoredClient | undefined> => {
    try {
      const client = clientIn(dependencies, id, await slots(() => dependencies.documents.fetch(id)));
      kept.set(id, { client, readAtMs: clock.elapsedMs() });
      failed.delete(id);
      return client;
    } catch (err) {
      log.info({ err, client: id }, 'The document of a client could not be read.');
      const failure = err instanceof NoDocument ? 'unknown' : 'temporary';
      // A full queue says nothing of the document.
      if (!(err instanceof TooBusy)) failed.set(id, failure);
      if (failure === 'unknown') kept.delete(id);
      return fail(id, failure);
    }
  };
  const find = async (id: string): Promise<StoredClient | undefined> => {
    const known = kept.get(id);
    if (known !== undefined && clock.elapsedMs() - known.readAtMs < FRESH_MS) return known.client;
    const failure = failed.get(id);
    if (failure !== undefined) return fail(id, failure);
    if (!reading.has(id) && !(await dependencies.mayFetch())) return fail(id, 'temporary');
    const begun = reading.get(id) ?? fetchOnce(id).finally(() => reading.delete(id));
    reading.set(id, begun);
    return begun;
  };
  return {
    ...clients,
    async find(id) {
      const registered = await clients.find(id);
      // Administrators block a document by a disabled client with its address; no other client has one.
      if (!isAddress(id) || registered?.disabled) return registered;
      return isDocumentOf(origins, id) ? find(id) : undefined;
    },
  };
};

const unavailable = (): HttpProblem => new HttpProblem('unavailable', { headers: { 'Retry-After': '10' } });

const isDocumentOf = (origins: CorsOrigins, id: string): boolean =>
  isExactAddress(id) && isAllowedOrigin(origins, new URL(id).origin);

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
  const { tlsClientAuthSubject: _subject, jwks: _jwks, ...settings } = settingsIn(domain, id, document);
  const at = new Date(clock.nowMs());
  return {
    ...settings,
    clientId: id,
    selfRegistered: true,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
};

const settingsIn = (domain: Domain, id: string, document: unknown) => {
  try {
    if (Named.parse(document).client_id === id) return openSettingsOf(domain, document);
  } catch (cause) {
    throw new NoDocument('The document describes no client.', { cause });
  }
  throw new NoDocument('The document names another client_id.');
};
