// Over 200 lines, because it is one protocol: how a request with a key is reserved, executed and repeated.
import { createHmac, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { v7 } from 'uuid';
import type { EventId, LogIdentity, Position, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { isRejectionCode, Rejection, type RejectionCode } from '#kernel/base/rejection.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { formatSeed, parseSeed, REQUEST_RUNS_MAX_MS } from '#shared/events/reservation.ts';
import { type Known, unwritten } from './decider.ts';
import { type CommandIds, seededIds } from './handling/execution-context.ts';
import type { Outcome } from './handling/handler.ts';
import { commandStream, type ReservationEvent, type ReservationState, reservation } from './reservation.ts';
import type { States } from './states.ts';

/**
 * Executes a command once per key: a repeated request gets the first response. A refusal frees the key, so that a
 * corrected request may use it.
 */
export type Idempotency = (keyed: Keyed, execute: Execute) => Promise<Outcome>;

type Keyed = {
  /** The client of the key: equal keys of different clients are unrelated. */
  readonly client: string;
  readonly key: string;
  /** The content of the request; the same key with other content is refused. */
  readonly content: unknown;
  readonly metadata: MetadataContext;
  /** Whether the key belongs to this request for ever. */
  readonly isLasting?: boolean;
};

type Execute = (ids: CommandIds, mayBeRepeatAfter: Position | undefined) => Promise<Outcome>;

type Dependencies = {
  readonly log: EventLog;
  readonly codec: Codec;
  readonly states: States;
  readonly newId: () => number;
  /** From one id of this installation to the next. */
  readonly idStep?: number;
  readonly digestKey: Buffer;
  readonly clock: Clock;
};

/** A command on several streams may have changed some of them: its retry continues with the same ids. */
const UNFINISHED: RejectionCode = 'conflict';

export const createIdempotency = (dependencies: Dependencies): Idempotency => {
  const process = `process-${randomUUID()}`;
  const running = new Set<StreamName>();
  const digest = (text: string): string =>
    createHmac('sha256', dependencies.digestKey).update(text).digest('base64url');
  return async ({ client, key, content, metadata, isLasting }, execute) => {
    const stream = commandStream(digest(JSON.stringify(['key', client, key])));
    if (running.has(stream)) throw new Rejection('idempotency_key_in_use');
    running.add(stream);
    try {
      const request = {
        stream,
        digest: digest(`content ${canonicalize(content)}`),
        process,
        metadata,
        isLasting,
      };
      return await once(dependencies, request, execute);
    } finally {
      running.delete(stream);
    }
  };
};

type Request = {
  readonly stream: StreamName;
  readonly digest: string;
  readonly process: string;
  readonly metadata: MetadataContext;
  readonly isLasting?: boolean | undefined;
};

const once = async (dependencies: Dependencies, request: Request, execute: Execute): Promise<Outcome> => {
  const { reserved, isNew } = await reserve(dependencies, request);
  if (reserved.state.status !== 'reserved') return answerAgain(reserved, dependencies.log.identity);
  const { seed, by, at } = reserved.state;
  if (!isNew && by !== request.process && isRecent(at, dependencies.clock))
    throw new Rejection('idempotency_key_in_use');
  try {
    const outcome = await execute(
      seededIds(parseSeed(seed), dependencies.idStep),
      isNew ? undefined : reserved.position,
    );
    await complete(dependencies, request, {
      reserved,
      seed,
      outcome: { done: outcome, log: dependencies.log.identity },
    });
    return outcome;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    const { code, details, message: says } = error;
    if (
      code !== UNFINISHED &&
      (await complete(dependencies, request, {
        reserved,
        seed,
        outcome: { refused: { code, says, details } },
      }))
    )
      throw error;
    // Another process took this request for dead and executed it; its changes may have caused the refusal.
    const known = await dependencies.states.load(reservation, request.stream);
    if (known.state.status === 'completed' && known.state.digest === request.digest)
      return answerAgain(known, dependencies.log.identity);
    throw error;
  }
};

/**
 * If clocks differ by more than that, a request counts as dead; its reserved ids make a second execution
 * safe.
 */
const isRecent = (at: string, clock: Clock): boolean =>
  Math.abs(clock.nowMs() - Date.parse(at)) < REQUEST_RUNS_MAX_MS;

type Reserved = { readonly reserved: Known<ReservationState>; readonly isNew: boolean };

/** Most keys are new, so the reservation is written first, and read only if it exists. */
const reserve = async (dependencies: Dependencies, request: Request): Promise<Reserved> => {
  const { states, newId } = dependencies;
  const { stream, digest, process, metadata, isLasting = false } = request;
  const command = {
    type: 'Reserve',
    digest,
    seed: formatSeed({ eventSeed: v7(), firstId: newId() }),
    at: metadata.at,
    by: process,
    isLasting,
  } as const;
  const decideOn = (known: Known<ReservationState>) => reservation.decide(command, known.state);
  const absent = unwritten(reservation.initial);
  const first = await append(dependencies, request, { known: absent, events: decideOn(absent) });
  if (first) return { reserved: first, isNew: true };
  const known = await states.load(reservation, stream);
  const events = decideOn(known);
  if (events.length === 0) return { reserved: known, isNew: false };
  const renewed = await append(dependencies, request, { known, events });
  // Another process has just reserved the same key.
  if (!renewed) throw new Rejection('idempotency_key_in_use');
  return { reserved: renewed, isNew: true };
};

type Completion = {
  readonly reserved: Known<ReservationState>;
  readonly seed: string;
  readonly outcome: JsonObject;
};

/**
 * Returns whether this outcome is the recorded one. A process that completed it meanwhile executed the same
 * command with the same ids.
 */
const complete = async (
  dependencies: Dependencies,
  request: Request,
  { reserved, seed, outcome }: Completion,
): Promise<boolean> => {
  const { digest, metadata } = request;
  const events = reservation.decide(
    { type: 'Complete', digest, seed, outcome, at: metadata.at },
    reserved.state,
  );
  return (await append(dependencies, request, { known: reserved, events })) !== undefined;
};

type Decided = { readonly known: Known<ReservationState>; readonly events: readonly ReservationEvent[] };

/** Returns the new state, or undefined if another writer was first. */
const append = async (
  { log, codec, states }: Dependencies,
  { stream, metadata }: Request,
  { known, events }: Decided,
): Promise<Known<ReservationState> | undefined> => {
  const unencoded = events.map((event) => ({ id: v7() as EventId, event }));
  try {
    const encoded = await codec.encodeAll(stream, metadata, unencoded);
    const to = await log.append(stream, known.version, encoded);
    states.advance(reservation, { stream, from: known, events, encoded, to });
    const state = events.reduce((folded, event) => reservation.evolve(folded, event), known.state);
    return { state, ...to, event: encoded.at(-1)?.id };
  } catch (error) {
    if (error instanceof StaleVersion) return undefined;
    throw error;
  }
};

/** Earlier versions have no message. */
type Refused = {
  readonly code: RejectionCode;
  readonly says?: string;
  readonly details: Record<string, Json>;
};

/** Earlier versions have no identity of the log. */
type Completed = { readonly done?: Outcome; readonly log?: LogIdentity; readonly refused?: Refused };

/**
 * In a copy of the log, the position of the outcome is one of the other log, and means nothing. The write
 * comes before the event that completes its reservation, also in a copy: a reader who waits for the position
 * of that event sees the write.
 */
export const answerAgain = (
  { state, position }: Pick<Known<ReservationState>, 'state' | 'position'>,
  identity: LogIdentity,
): Outcome => {
  if (state.status !== 'completed') throw new Rejection('conflict');
  const { done, log, refused } = state.outcome as Completed;
  if (done) return { ...done, position: log === identity ? done.position : position, isRepeat: true };
  if (refused && isRejectionCode(refused.code)) throw new Rejection(refused.code, refused.details, refused);
  throw new Error('the outcome of a reservation is neither done nor refused');
};
