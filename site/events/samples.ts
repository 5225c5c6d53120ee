import type { EventId, Position, UserId, Version } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller, Policy } from '#shared/policy.ts';
import { notingNothing } from '#shared/read-log/noted.ts';
import { idsIn } from '#shared/visibility/visible-data.ts';
import { describeEventType, EXAMPLE_LOG } from '../../query/event-types/event-types.ts';
import { createRepresentation } from '../../query/events/representation.ts';
import { eventMessage } from '../../query/sse/messages.ts';
import type { ShownGraphql, ShownSubscription } from '../shown-graphql.ts';

/** One event in every interface, rendered by the code that serves it. */
export type Sample = {
  /** The message of `GET /events` as a stream; undefined if it is not served. */
  readonly message: string | undefined;
  /** Undefined if GraphQL is not served. */
  readonly byGraphql: ShownSubscription | undefined;
  /** The payloads of webhooks, byte for byte; undefined if they are not served. */
  readonly byWebhook: { readonly thin: string; readonly full: string } | undefined;
};

/** As an administrator gets it: complete. */
export const sampleOf = async (
  definition: EventDefinition,
  policy: Policy,
  graphql?: ShownGraphql,
): Promise<Sample> => {
  const { type } = definition;
  const { example } = describeEventType(definition);
  const change = changeOf(definition, example);
  const represent = createRepresentation({
    domain: policy.domain,
    log: { identity: EXAMPLE_LOG },
    open: async () => example,
    isReadable: async () => true,
  });
  const event = await notingNothing(() => represent(change, administratorOf(policy)));
  const { id, version, at, cursor, subject } = event;
  const bodyWith = (data: JsonObject): string =>
    JSON.stringify({ id, type, version, at, cursor, subject, data });
  return {
    message: serves(policy.domain, 'streams')
      ? eventMessage({ id: cursor, data: JSON.stringify(event) })
          .toString()
          .trimEnd()
      : undefined,
    byGraphql: graphql?.subscriptionTo(policy.domain, change, cursor),
    byWebhook: serves(policy.domain, 'webhooks')
      ? { thin: bodyWith(idsIn(policy.domain, change, change.data)), full: bodyWith(example) }
      : undefined,
  };
};

const administratorOf = (policy: Policy): Caller => ({
  ...{ kind: 'user', policy, userId: 7000 as UserId, role: 'admin' },
  ...{ scopes: new Set(policy.scopes), client: 'web' },
});

const PLACE = 2_560 as Position;
const ORIGIN = {
  actor: 'user:7001',
  client: 'web',
  request: '3f0c6d1e',
  correlation: '3f0c6d1e',
  causation: null,
} as const;

export const changeOf = (definition: EventDefinition, example: JsonObject): Change => ({
  position: PLACE,
  id: '0b7c1f3e-9a4d-4c5e-8f60-718293a4b5c6' as EventId,
  type: definition.type,
  schemaVersion: definition.version,
  stream: streamName(definition.stream.kind, keyIn(definition)),
  version: 1 as Version,
  at: '2026-11-21T15:04:05.678Z',
  origin: ORIGIN,
  data: example,
  right: 'events.read',
  resource: {},
  isParked: false,
});

const keyIn = ({ stream: { key }, example }: EventDefinition): string =>
  key === null ? 'key' : String(example[key]);
