import { createHmac, randomUUID } from 'node:crypto';
import canonicalize from 'canonicalize';
import { v7 } from 'uuid';
import type { EventId, StreamName } from '#shared/brands.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { REJECTIONS, Rejection, type RejectionCode } from '#shared/rejection.ts';
import { type CommandIds, seededIds } from './circumstances.ts';
import type { Outcome } from './handler.ts';
import { commandStream, type ReservationState, reservation } from './reservation.ts';
import type { Known, States } from './states.ts';

/** Carries a command out once per key: a repetition is answered as the first time was. */
export type Idempotency = (keyed: Keyed, carryOut: CarryOut) => Promise<Outcome>;

type Keyed = {
  /** Whose key it is: the same key of another client is another key. */
  readonly client: string;
  readonly key: string;
  /** What the request asks for; the same key for something else is refused. */
  readonly content: unknown;
  readonly metadata: MetadataContext;
};

type CarryOut = (ids: CommandIds, mayBeRepeat: boolean) => Promise<Outcome>;

type Dependencies = {
  readonly log: EventLog;
  readonly codec: Codec;
  readonly states: States;
  readonly newId: () => number;
  readonly digestKey: Buffer;
};

/** How long a request of another process counts as running. After a crash its key is in use for this long. */
const RUNNING_MAX_MS = 10_000;

/** These say something about the moment or the caller, not about the request: the next try may come to something else. */
const PASSING: ReadonlySet<RejectionCode> = new Set(['conflict', 'unauthenticated', 'insufficient_scope', 'idempotency_key_in_use']);

export const createIdempotency = (dependencies: Dependencies): Idempotency => {
  const process = `process-${randomUUID()}`;
  const running = new Set<StreamName>();
  const digest = (text: string): string => createHmac('sha256', dependencies.digestKey).update(text).digest('base64url');
  return async ({ client, key, content, metadata }, carryOut) => {
    const stream = commandStream(digest(JSON.stringify(['key', client, key])));
    if (running.has(stream)) throw new Rejection('idempotency_key_in_use');
    running.add(stream);
    try {
      const request = { stream, digest: digest(`content ${canonicalize(content)}`), process, metadata };
      return await once(dependencies, request, carryOut);
    } finally {
      running.delete(stream);
    }
  };
};

type Request = { readonly stream: StreamName; readonly digest: string; readonly process: string; readonly metadata: MetadataContext };

const once = async (dependencies: Dependencies, request: Request, carryOut: CarryOut): Promise<Outcome> => {
  const { reserved, isNew } = await reserve(dependencies, request);
  if (reserved.state.status !== 'reserved') return answerAgain(reserved.state);
  if (!isNew && reserved.state.by !== request.process && Date.now() - Date.parse(reserved.state.at) < RUNNING_MAX_MS) {
    throw new Rejection('idempotency_key_in_use');
  }
  const { seed } = reserved.state;
  try {
    const outcome = await carryOut(seededIds(parseSeed(seed)), !isNew);
    await complete(dependencies, request, { seed, outcome: { done: outcome } });
    return outcome;
  } catch (error) {
    if (error instanceof Rejection && !PASSING.has(error.code)) {
      await complete(dependencies, request, { seed, outcome: { refused: { code: error.code, details: error.details } } });
    }
    throw error;
  }
};

/** Reads or writes the reservation. It is new when this very call has written it. */
const reserve = async (
  { log, codec, states, newId }: Dependencies,
  { stream, digest, process, metadata }: Request,
): Promise<{ reserved: Known<ReservationState>; isNew: boolean }> => {
  const known = await states.load(reservation, stream);
  const seed = formatSeed({ eventSeed: v7(), firstId: newId() });
  const events = reservation.decide({ type: 'Reserve', digest, seed, at: metadata.at, by: process }, known.state);
  if (events.length === 0) return { reserved: known, isNew: false };
  try {
    const unencoded = events.map((event) => ({ id: v7() as EventId, event }));
    const to = await log.append(stream, known.version, await codec.encodeAll(stream, metadata, unencoded));
    states.advance(reservation, { stream, from: known, events, to });
    return { reserved: { state: events.reduce(reservation.evolve, known.state), ...to }, isNew: true };
  } catch (error) {
    // Another process was first, with the same key, just now.
    if (error instanceof StaleVersion) throw new Rejection('idempotency_key_in_use', {}, { cause: error });
    throw error;
  }
};

const complete = async (
  { log, codec, states }: Dependencies,
  { stream, digest, metadata }: Request,
  { seed, outcome }: { seed: string; outcome: JsonObject },
): Promise<void> => {
  const known = await states.load(reservation, stream);
  const events = reservation.decide({ type: 'Complete', digest, seed, outcome, at: metadata.at }, known.state);
  if (events.length === 0) return;
  const unencoded = events.map((event) => ({ id: v7() as EventId, event }));
  try {
    const to = await log.append(stream, known.version, await codec.encodeAll(stream, metadata, unencoded));
    states.advance(reservation, { stream, from: known, events, to });
  } catch (error) {
    // Who completed it meanwhile has carried out the same command with the same ids.
    if (!(error instanceof StaleVersion)) throw error;
  }
};

const answerAgain = (state: ReservationState): Outcome => {
  if (state.status !== 'completed') throw new Rejection('conflict');
  const { done, refused } = state.outcome as { done?: Outcome; refused?: { code: RejectionCode; details: Record<string, Json> } };
  if (done) return done;
  if (refused && Object.hasOwn(REJECTIONS, refused.code)) throw new Rejection(refused.code, refused.details);
  throw new Error('the outcome of a reservation is neither done nor refused');
};

type Seed = { readonly eventSeed: string; readonly firstId: number };

const formatSeed = ({ eventSeed, firstId }: Seed): string => `${eventSeed}/${firstId}`;

const parseSeed = (seed: string): Seed => {
  const [eventSeed = '', firstId] = seed.split('/');
  return { eventSeed, firstId: Number(firstId) };
};
