import { LRUCache } from 'lru-cache';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Version, WebhookId } from '#shared/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec, type DecodedEvent } from '#shared/events/codec.ts';
import { streamName } from '#shared/events/streams.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Endpoint, Secret } from './deliver/delivery.ts';

/** Where and how to send to a webhook, at least as it was at a version; nothing where it is gone, or its owner was erased. */
export type EndpointSecrets = (webhookId: WebhookId, version: Version) => Promise<Endpoint | undefined>;

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
};
type Known = { readonly version: Version; readonly endpoint: Endpoint | undefined; readonly sinceMs: number };

const KNOWN_MAX = 10_000;
/** Neither an owner who was erased nor a secret that was deleted is remembered for longer. */
const KNOWN_FOR_MS = 300_000;

/** From the log, where it is sealed, into memory and nowhere else. */
export const createEndpointSecrets = ({ domain, eventLog, keys }: Dependencies): EndpointSecrets => {
  const codec = createCodec({ keys, domain });
  const cache = new LRUCache<WebhookId, Known, Version>({
    max: KNOWN_MAX,
    ttl: KNOWN_FOR_MS,
    ttlAutopurge: true,
    fetchMethod: async (webhookId, before) => {
      let known = before !== undefined && performance.now() < before.sinceMs + KNOWN_FOR_MS ? before : nothing();
      // Every request of its owner is an event there, so that only what is new is read.
      const pages = eventLog.read(streamName('webhook', webhookId), (known.version + 1) as Version);
      for await (const page of pages) known = (await codec.decodeAll(page)).reduce(after, known);
      return known;
    },
  });
  return async (webhookId, version) => {
    const isOld = (cache.peek(webhookId)?.version ?? version) < version;
    return (await cache.fetch(webhookId, { context: version, forceRefresh: isOld }))?.endpoint;
  };
};

const nothing = (): Known => ({ version: 0 as Version, endpoint: undefined, sinceMs: performance.now() });

const after = ({ endpoint, sinceMs }: Known, event: DecodedEvent): Known => ({
  version: event.version,
  endpoint: endpointAfter(endpoint, event),
  sinceMs,
});

const endpointAfter = (before: Endpoint | undefined, { type, data }: DecodedEvent): Endpoint | undefined => {
  if (type === 'webhook.registered') {
    const { webhookId, ownerId, url, headers, secret, payload } = data;
    const scopes = new Set(data.scopes);
    if (url === null || secret === null) return undefined;
    return { webhookId, ownerId, scopes, url, headers: headers ?? {}, secrets: [{ secret, endsAtMs: null }], payload };
  }
  if (!before) return undefined;
  switch (type) {
    case 'webhook.changed': {
      const { url = before.url, headers = before.headers, payload = before.payload } = data;
      const scopes = data.scopes ? new Set(data.scopes) : before.scopes;
      return url === null ? undefined : { ...before, scopes, url, headers: headers ?? {}, payload };
    }
    case 'webhook.enabled':
      return { ...before, scopes: new Set(data.scopes) };
    case 'webhook.secret_rotated': {
      if (data.secret === null) return undefined;
      const endsAtMs = Date.parse(data.oldSecretsEndAt);
      return { ...before, secrets: [{ secret: data.secret, endsAtMs: null }, ...ending(before.secrets, endsAtMs)] };
    }
    case 'webhook.deleted':
      return undefined;
    default:
      return before;
  }
};

/** Those that end sooner end when they did. */
const ending = (secrets: readonly Secret[], endsAtMs: number): readonly Secret[] =>
  secrets.map((each) => ({ ...each, endsAtMs: Math.min(each.endsAtMs ?? endsAtMs, endsAtMs) }));
