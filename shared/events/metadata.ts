import * as z from 'zod';
import { timestamp, token } from '#kernel/declare/values.ts';
import type { JsonObject } from '#shared/json.ts';
import { RECORDED_TRACE } from '#shared/tracing/traceparent.ts';

/** Who made a change: a user, a part of the system by its name, or somebody unknown. */
export type Actor = `user:${number}` | `system:${string}` | 'anonymous';

/** Who, when, through which client, by which request, because of which event. Never personal data: it cannot be erased. */
export type EventMetadata = {
  /** The version of the event's type. */
  readonly version: number;
  /** When the change was made, by the clock of the process that decided it: RFC 3339, UTC, milliseconds. */
  readonly at: string;
  readonly actor: Actor;
  /** The OAuth client, if one was used. */
  readonly client: string | null;
  readonly request: string;
  /** The same for everything that follows from one request. */
  readonly correlation: string;
  /** The id of the event that this one follows from. */
  readonly causation: string | null;
  /** Where in a trace it was made, as a `traceparent` (W3C), if that trace is recorded. */
  readonly trace?: string | undefined;
};

/** Who made a change, and how they came to. */
export type Origin = Pick<EventMetadata, 'actor' | 'client' | 'request' | 'correlation' | 'causation'>;

/** What the writer knows; the codec adds the version. */
export type MetadataContext = Omit<EventMetadata, 'version'>;

export const actor = z.string().regex(/^(?:user:[1-9]\d{0,15}|system:[a-z0-9-]{1,100}|anonymous)$/) as unknown as z.ZodType<Actor, string>;

/** The two names with a dollar are EventStoreDB's own, so that its by-correlation projection works. */
const stored = z.strictObject({
  version: z.int().positive(),
  at: timestamp,
  actor,
  client: token.nullable(),
  request: token,
  $correlationId: token,
  $causationId: token.nullable(),
  trace: z.string().regex(RECORDED_TRACE).exactOptional(),
});

export const storeMetadata = (version: number, context: MetadataContext): JsonObject => {
  const { at, actor, client, request, correlation, causation, trace } = context;
  const same = { version, at, actor, client, request, $correlationId: correlation, $causationId: causation };
  return stored.parse(trace === undefined ? same : { ...same, trace });
};

/** Throws zod's error; the codec names the event. */
export const readMetadata = (metadata: JsonObject): EventMetadata => {
  const { $correlationId: correlation, $causationId: causation, ...same } = stored.parse(metadata);
  return { ...same, correlation, causation };
};
