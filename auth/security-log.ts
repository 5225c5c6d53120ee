import { randomUUID } from 'node:crypto';
import type { EventId } from '#shared/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Actor } from '#shared/events/metadata.ts';
import { SECURITY_EVENTS } from '#shared/events/security.ts';
import { streamName } from '#shared/events/streams.ts';
import type { Log } from '#shared/log.ts';

export type SecurityEvent = EventOf<keyof typeof SECURITY_EVENTS>;

/** Who did it, by which client, in which request. */
export type SecurityCircumstances = { readonly actor: Actor; readonly client: string | null; readonly requestId: string };

/** Appends a fact of the authorization server to the event log, on a stream of its own. */
export type RecordSecurityEvent = (event: SecurityEvent, circumstances: SecurityCircumstances) => Promise<void>;

export const createSecurityLog =
  ({ eventLog, codec }: { readonly eventLog: EventLog; readonly codec: Codec }): RecordSecurityEvent =>
  async (event, { actor, client, requestId }) => {
    const { kind, key } = SECURITY_EVENTS[event.type].stream;
    // Every security event is keyed by a field of its data, which the codec checks.
    const stream = streamName(kind, String((event.data as Readonly<Record<string, unknown>>)[key ?? '']));
    const context = { at: new Date().toISOString(), actor, client, request: requestId, correlation: requestId, causation: null };
    const encoded = await codec.encode(event, context, randomUUID() as EventId, stream);
    await eventLog.append(stream, 'any', [encoded]);
  };

/** For what is done already, whether or not the log can be told: it stays done, and who looks after the system is told instead. */
export const recordAfterwards =
  ({ record, log }: { readonly record: RecordSecurityEvent; readonly log: Log }): RecordSecurityEvent =>
  (event, circumstances) =>
    record(event, circumstances).catch((err: unknown) =>
      log.error({ err, type: event.type, requestId: circumstances.requestId }, 'A security event could not be recorded.'),
    );
