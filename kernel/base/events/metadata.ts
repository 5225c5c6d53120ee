import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import { type RecordedSignature, recordedSignature } from '../signature.ts';
import { RECORDED_TRACE } from '../traceparent.ts';
import { TOKEN, timestamp, token } from '../values.ts';

/** The author of a change: a user, a part of the system by its name, or somebody unknown. */
export type Actor = `user:${number}` | `system:${string}` | 'anonymous';

/**
 * Who, when, through which client, by which request, because of which event. Never personal data: it cannot
 * be erased.
 */
export type EventMetadata = {
  /** The version of the event’s type. */
  readonly version: number;
  /**
   * When the change was made, by the clock of the process that decided it, or as an import claims: RFC 3339,
   * UTC, milliseconds.
   */
  readonly at: string;
  readonly actor: Actor;
  /** The OAuth client, if one was used. */
  readonly client: string | null;
  readonly request: string;
  /** Shared by everything that follows from one request. */
  readonly correlation: string;
  /** The id of the event that this one follows from. */
  readonly causation: string | null;
  /** The span of the change in its trace, as a `traceparent` (W3C), if that trace is recorded. */
  readonly trace?: string | undefined;
  /** When the event was recorded, if an import claims its time and its author. */
  readonly importedAt?: string | undefined;
  /** Why, as the caller says. */
  readonly reason?: string | undefined;
  /** Of a command that a person has signed. */
  readonly signature?: RecordedSignature | undefined;
};

/** The author of a change, with its client, request and cause. */
export type Origin = Pick<EventMetadata, 'actor' | 'client' | 'request' | 'correlation' | 'causation'>;

/** The metadata that the writer supplies; the codec adds the version. */
export type MetadataContext = Omit<EventMetadata, 'version'>;

const ACTOR = /^(?:user:[1-9]\d{0,15}|system:[a-z0-9-]{1,100}|anonymous)$/;
export const actor = z.string().regex(ACTOR) as unknown as z.ZodType<Actor, string>;

/** Twice what commands accept, in units of UTF-16: the limit of commands may grow. */
const REASON_LENGTH_MAX = 1_000;

/** The two names with a dollar are EventStoreDB’s own, so that its by-correlation projection works. */
const stored = z.strictObject({
  version: z.int().positive(),
  at: timestamp,
  actor,
  client: token.nullable(),
  request: token,
  $correlationId: token,
  $causationId: token.nullable(),
  trace: z.string().regex(RECORDED_TRACE).exactOptional(),
  importedAt: timestamp.exactOptional(),
  reason: z.string().min(1).max(REASON_LENGTH_MAX).exactOptional(),
  signature: recordedSignature.exactOptional(),
});

export const storeMetadata = (version: number, context: MetadataContext): JsonObject => {
  const { at, actor, client, request, correlation, causation, trace, importedAt, reason, signature } =
    context;
  return stored.parse({
    ...{ version, at, actor, client, request, $correlationId: correlation, $causationId: causation },
    ...(trace !== undefined && { trace }),
    ...(importedAt !== undefined && { importedAt }),
    ...(reason !== undefined && { reason }),
    ...(signature !== undefined && { signature }),
  });
};

/** Throws zod’s error; the codec names the event. */
export const readMetadata = (metadata: JsonObject): EventMetadata => {
  const {
    version,
    at,
    actor,
    client,
    request,
    $correlationId: correlation,
    $causationId: causation,
    trace,
    importedAt,
    reason,
    signature,
  } = certain(metadata);
  return {
    ...{ version, at, actor, client, request, correlation, causation },
    ...(trace !== undefined && { trace }),
    ...(importedAt !== undefined && { importedAt }),
    ...(reason !== undefined && { reason }),
    ...(signature !== undefined && { signature }),
  };
};

type Stored = z.infer<typeof stored>;

/**
 * Every follower reads the metadata of every event; zod, which takes several times as long, parses only those
 * that are not certain.
 */
const certain = (metadata: JsonObject): Stored => (isCertain(metadata) ? metadata : stored.parse(metadata));

const FIELD_NAMES = ['version', 'at', 'actor', 'client', 'request', '$correlationId', '$causationId'];
const FIELDS = FIELD_NAMES.length;

/** Whether all fields are there that Annals writes in every release, whatever their values. */
export const hasOurFields = (metadata: JsonObject): boolean =>
  FIELD_NAMES.every((name) => Object.hasOwn(metadata, name));

const MOMENT = /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const isCertain = (metadata: JsonObject): metadata is Stored => {
  if (typeof metadata !== 'object' || metadata === null) return false;
  const { version, at, actor, client, request, $correlationId, $causationId, importedAt, reason } = metadata;
  const isImported = importedAt !== undefined;
  const hasReason = reason !== undefined;
  return (
    Object.keys(metadata).length === FIELDS + Number(isImported) + Number(hasReason) &&
    (!isImported || is(MOMENT, importedAt)) &&
    (!hasReason || isRecordedReason(reason)) &&
    Number.isSafeInteger(version) &&
    (version as number) > 0 &&
    is(MOMENT, at) &&
    is(ACTOR, actor) &&
    (client === null || is(TOKEN, client)) &&
    is(TOKEN, request) &&
    ($correlationId === request || is(TOKEN, $correlationId)) &&
    ($causationId === null || is(TOKEN, $causationId))
  );
};

const isRecordedReason = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= REASON_LENGTH_MAX;

const is = (pattern: RegExp, value: unknown): boolean => typeof value === 'string' && pattern.test(value);
