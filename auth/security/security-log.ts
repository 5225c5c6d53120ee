import { randomUUID } from 'node:crypto';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import type { Actor } from '#kernel/base/events/metadata.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { catalogueOf, type EventOf } from '#shared/events/catalogue.ts';
import { keyedStream } from '#shared/events/check-stream.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { securityEventsOf } from '#shared/events/security.ts';
import type { Log } from '#shared/log.ts';

export type SecurityEvent = EventOf<keyof ReturnType<typeof securityEventsOf>>;

/** The actor, the client and the request. */
export type SecurityContext = {
  readonly actor: Actor;
  readonly client: string | null;
  readonly requestId: string;
};

/** Appends a fact of the authorization server to the event log, on a stream of its own. */
export type RecordSecurityEvent = (event: SecurityEvent, context: SecurityContext) => Promise<void>;

type Dependencies = { readonly eventLog: EventLog; readonly codec: Codec; readonly domain: Domain };

export const createSecurityLog =
  ({ eventLog, codec, domain }: Dependencies): RecordSecurityEvent =>
  async (event, { actor, client, requestId }) => {
    const stream = streamOf(domain, event);
    const context = {
      at: new Date().toISOString(),
      actor,
      client,
      request: requestId,
      correlation: requestId,
      causation: null,
    };
    const encoded = await codec.encode(event, context, randomUUID() as EventId, stream);
    await eventLog.append(stream, 'any', [encoded]);
  };

/** The stream's key is a field of the event's data, which the codec checks. */
const streamOf = (domain: Domain, { type, data }: SecurityEvent): StreamName => {
  const { kind = '', key } = catalogueOf(domain).find(type)?.stream ?? {};
  return keyedStream(kind, String((data as Readonly<Record<string, unknown>>)[key ?? '']));
};

/**
 * For an action that is already done: if the log does not take the event, the action stays done, and an error
 * is logged for operators.
 */
export const recordAfterwards =
  ({ record, log }: { readonly record: RecordSecurityEvent; readonly log: Log }): RecordSecurityEvent =>
  (event, context) =>
    record(event, context).catch((err: unknown) =>
      log.error(
        { err, type: event.type, requestId: context.requestId },
        'A security event could not be recorded.',
      ),
    );
