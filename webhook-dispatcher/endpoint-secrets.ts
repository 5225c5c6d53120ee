import { LRUCache } from 'lru-cache';
import type { Version, WebhookId } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { evolveWebhook } from '#kernel/decide/evolve-webhook.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { presentIn, type Webhook } from '#kernel/webhook/webhook.ts';
import { sentBy } from '#kernel/webhook/webhook-fields.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { createCodec } from '#shared/events/codec.ts';
import { createReleasedCodec } from '#shared/events/released-codec.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Endpoint, Secret } from './deliver/delivery.ts';

/**
 * Returns the destination and secrets of a webhook, at least as recent as the version; undefined if it was
 * deleted, or its owner erased.
 */
export type EndpointSecrets = (webhookId: WebhookId, version: Version) => Promise<Endpoint | undefined>;

type Dependencies = {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly clock: Clock;
  /** Knows which foreign records an operator has skipped. */
  readonly pool?: Pick<Pool, 'query'>;
};
type Known = {
  readonly version: Version;
  readonly state: AggregateState;
  readonly endpoint: Endpoint | undefined;
  readonly sinceMs: number;
};

const KNOWN_MAX = 10_000;
/** The maximum time for which data of an erased owner or a deleted secret stays in memory. */
const KNOWN_FOR_MS = 300_000;

/** Reads them sealed from the log into memory, and stores them nowhere else. */
export const createEndpointSecrets = (dependencies: Dependencies): EndpointSecrets => {
  const { eventLog, clock, pool } = dependencies;
  const strict = createCodec(dependencies);
  const codec = pool === undefined ? strict : createReleasedCodec(strict, pool);
  const cache = new LRUCache<WebhookId, Known, Version>({
    max: KNOWN_MAX,
    ttl: KNOWN_FOR_MS,
    ttlAutopurge: true,
    fetchMethod: async (webhookId, before) => {
      const nowMs = clock.elapsedMs();
      let known =
        before !== undefined && nowMs < before.sinceMs + KNOWN_FOR_MS ? before : nothingSince(nowMs);
      // Every request of the owner adds an event, so only new events are read.
      const pages = eventLog.read(streamName('webhook', webhookId), (known.version + 1) as Version);
      for await (const page of pages)
        for (const event of await codec.decodeAll(page))
          known = { ...known, version: event.version, state: evolveWebhook(known.state, event) };
      return { ...known, endpoint: endpointIn(known.state) };
    },
  });
  return async (webhookId, version) => {
    const isOld = (cache.peek(webhookId)?.version ?? version) < version;
    return (await cache.fetch(webhookId, { context: version, forceRefresh: isOld }))?.endpoint;
  };
};

const nothingSince = (sinceMs: number): Known => ({
  version: 0 as Version,
  state: ABSENT,
  endpoint: undefined,
  sinceMs,
});

const endpointIn = (state: AggregateState): Endpoint | undefined => {
  const present = presentIn(state);
  if (!present) return undefined;
  const { id, owner: ownerId, url, headers, payload, scopes } = present;
  const secrets = secretsOf(present);
  if (url === null || secrets === undefined) return undefined;
  return {
    ...{ webhookId: id, ownerId, scopes: new Set(scopes), url, headers: headers ?? {} },
    ...{ secrets, ...sentBy(payload) },
  };
};

/**
 * Latest first. Each older secret expires at the time that a later rotation recorded, even after a clock
 * change.
 */
const secretsOf = ({ secret, oldSecretsEndAt }: Webhook): readonly Secret[] | undefined => {
  const known = secret.filter((each) => each !== null);
  if (known.length < secret.length) return undefined;
  const ends = oldSecretsEndAt.map((end) => Date.parse(end));
  return known
    .map((each, index) => ({
      secret: each,
      endsAtMs: index === ends.length ? null : Math.min(...ends.slice(index)),
    }))
    .toReversed();
};
