// Over 200 lines, because it is one loop: load, decide, append, and handle each refusal of the log.
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { Rejection, type RejectionCode } from '#kernel/base/rejection.ts';
import { checkParts } from '#shared/event-log/check-append.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import { type Appended, type EventLog, FIRST, NO_STREAM, type ReadAt } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import { KeyDestroyed } from '#shared/keys/key-store.ts';
import type { Folding } from './decider.ts';
import { type Known, unwritten } from './decider.ts';
import type { ExecutionContext } from './handling/execution-context.ts';
import { createKeyedQueue } from './handling/keyed-queue.ts';
import type { States } from './states.ts';

/** The aggregate of a command, its stream, and the decision. */
export type Target<State, Event> = {
  readonly decider: Folding<State, Event>;
  readonly stream: StreamName;
  /** Checks rights and decides; throws `Rejection` if the caller may not do this or a rule forbids it. */
  decide(state: State): Decision<Event> | Promise<Decision<Event>>;
  /** Writes to other streams before the append, which will expect the version of `basis`, or refuses it. */
  prepare?(events: readonly Event[], basis: Known<State>, how: Preparing): Promise<void>;
};

export type Decision<Event> = {
  readonly events: readonly Event[];
  /** The other streams that it has read, which must be unchanged when its events are appended. */
  readonly reads?: readonly ReadAt[];
  /** The other aggregates that it changes, in the same append. */
  readonly others?: readonly Other[];
};

/** With `looksOnly`, writes nothing, and refuses as it would otherwise. */
export type Preparing = { readonly looksOnly: boolean };

/** An aggregate that a decision changes beside its own, at the version at which the decision read it. */
export type Other = Pick<Target<unknown, AnnalsEvent>, 'decider' | 'stream' | 'prepare'> & {
  readonly version: Version;
  readonly events: readonly AnnalsEvent[];
  /** If its events have another author than those of the command. */
  readonly metadata?: MetadataContext;
};

/** The only place where events are decided and appended. */
export type Executor = {
  /**
   * Changes an aggregate. After a conflict with another writer it decides again, unless the caller gave a
   * version.
   */
  change<State, Event extends AnnalsEvent>(
    target: Target<State, Event>,
    execution: ExecutionContext,
  ): Promise<Appended>;
  /** Creates an aggregate under a new id; if the id is taken, tries the next. */
  create<State, Event extends AnnalsEvent>(
    targetOf: (id: number) => Target<State, Event>,
    execution: ExecutionContext,
  ): Promise<Appended & { readonly id: number }>;
  /** Decides as `change` does, and appends nothing. */
  look<State, Event extends AnnalsEvent>(
    target: Target<State, Event>,
    execution: ExecutionContext,
  ): Promise<{ readonly basis: Known<State>; readonly decision: Decision<Event> }>;
};

const ATTEMPTS_MAX = 12;
const BACKOFF_MAX_MS = 50;
const IDS_TRIED_MAX = 8;

type Dependencies = { readonly log: EventLog; readonly codec: Codec; readonly states: States };

export const createExecutor = (dependencies: Dependencies): Executor => {
  // Changes of one aggregate in this process wait for each other, so that only other processes conflict.
  const queue = createKeyedQueue<StreamName>();
  return {
    change: (target, execution) => queue.run(target.stream, () => change(dependencies, target, execution)),
    create: (targetOf, execution) => create(dependencies, targetOf, execution),
    async look(target, execution) {
      const basis = await dependencies.states.load(target.decider, target.stream);
      return { basis, decision: await decide(target, basis, execution) };
    },
  };
};

const change = async <State, Event extends AnnalsEvent>(
  dependencies: Dependencies,
  target: Target<State, Event>,
  execution: ExecutionContext,
): Promise<Appended> => {
  const { states } = dependencies;
  let basis: Known<State> | undefined = states.recall(target.decider, target.stream);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const isRecalled = basis !== undefined;
    basis ??= await states.load(target.decider, target.stream);
    // The first attempt may still be running: if it has succeeded by now, nothing is decided again.
    const earlier = await findOwn(dependencies, target.stream, execution);
    if (earlier) return earlier;
    try {
      const decision = await decide(target, basis, execution);
      if (decision.events.length > 0)
        return await append(dependencies, { target, basis, decision, execution });
      // A no-op, like a refusal, is returned only for the current state of the log.
      if (!isRecalled) return { version: basis.version, position: basis.position };
    } catch (error) {
      if (error instanceof StaleVersion) await pause(attempt);
      else if (!(error instanceof Rejection && isRecalled)) throw error;
    }
    basis = undefined;
  }
  throw new Rejection('conflict');
};

const decide = async <State, Event>(
  target: Target<State, Event>,
  { state, version }: Known<State>,
  conditions: Conditions,
): Promise<Decision<Event>> => {
  const mismatch = isMet(conditions, version) ? undefined : new Rejection('version_mismatch', { version });
  try {
    const decision = await target.decide(state);
    if (mismatch) throw mismatch;
    return decision;
  } catch (error) {
    throw mismatch && error instanceof Rejection && ABOUT_CONTENT.has(error.code) ? mismatch : error;
  }
};

type Conditions = Pick<ExecutionContext, 'ifVersion' | 'unlessVersion'>;

/** A new aggregate has no version that a caller could have seen. */
const NO_CONDITIONS: Conditions = { ifVersion: undefined, unlessVersion: undefined };

const isMet = ({ ifVersion, unlessVersion }: Conditions, version: Version): boolean => {
  if (unlessVersion === 'any' || unlessVersion?.includes(version)) return false;
  return ifVersion === undefined || [ifVersion].flat().includes(version);
};

/** Check permission first, so that a patch reveals nothing about content its sender cannot read. */
const ABOUT_CONTENT: ReadonlySet<RejectionCode> = new Set([
  'patch_not_applicable',
  'patch_test_failed',
  'invalid_command',
]);

const create = async <State, Event extends AnnalsEvent>(
  dependencies: Dependencies,
  targetOf: (id: number) => Target<State, Event>,
  execution: ExecutionContext,
): Promise<Appended & { readonly id: number }> => {
  const repeated = await findCreated(dependencies, targetOf, execution);
  if (repeated) return repeated;
  for (let taken = 0, conflicts = 0; taken < IDS_TRIED_MAX; ) {
    const id = execution.ids.aggregate(taken);
    const target = targetOf(id);
    const basis = unwritten(target.decider.initial);
    const decision = await decide(target, basis, NO_CONDITIONS);
    try {
      return { id, ...(await append(dependencies, { target, basis, decision, execution })) };
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
      if (conflicts < ATTEMPTS_MAX && (await isFree(dependencies, target, decision))) {
        conflicts += 1;
        await pause(conflicts);
      } else taken += 1;
    }
  }
  throw new Rejection('conflict');
};

/** Whether another stream, which the decision has read, was changed, and not the new one. */
const isFree = async <State, Event extends AnnalsEvent>(
  { states }: Dependencies,
  { decider, stream }: Target<State, Event>,
  { reads = [] }: Decision<Event>,
): Promise<boolean> => reads.length > 0 && (await states.load(decider, stream)).version === NO_STREAM;

/** Random, so that conflicting writers do not collide again. */
const pause = (attempt: number): Promise<void> => delay(randomInt(Math.min(2 ** attempt, BACKOFF_MAX_MS)));

/**
 * The aggregate that this command created before a crash: under the first of its ids whose stream no other
 * command created.
 */
const findCreated = async <State, Event>(
  dependencies: Dependencies,
  targetOf: (id: number) => Target<State, Event>,
  execution: ExecutionContext,
): Promise<(Appended & { readonly id: number }) | undefined> => {
  if (execution.mayBeRepeatAfter === undefined) return undefined;
  for (let attempt = 0; attempt < IDS_TRIED_MAX; attempt += 1) {
    const id = execution.ids.aggregate(attempt);
    const { stream } = targetOf(id);
    const own = await findOwn(dependencies, stream, execution);
    if (own) return { id, ...own };
    if (await isUnwritten(dependencies, stream)) return undefined;
  }
  return undefined;
};

type Decided<State, Event> = {
  readonly target: Target<State, Event>;
  readonly basis: Known<State>;
  readonly decision: Decision<Event>;
  readonly execution: ExecutionContext;
};

const append = async <State, Event extends AnnalsEvent>(
  dependencies: Dependencies,
  { target, basis, decision, execution }: Decided<State, Event>,
): Promise<Appended> => {
  const { log, codec, states } = dependencies;
  const { decider, stream, prepare } = target;
  const { events, reads = [], others = [] } = decision;
  // The key of a person is made to encode its creation, and would stay if that is refused.
  if (basis.version === NO_STREAM) await prepare?.(events, basis, { looksOnly: true });
  const unencoded = events.map((event, ordinal) => ({ id: execution.ids.event(ordinal), event }));
  const encoded = await codec.encodeAll(stream, execution.metadata, unencoded).catch(refuseForErased);
  const beside = await encodeOthers(dependencies, others, { execution, first: events.length });
  const also = beside.map(({ other, encoded }) => ({
    stream: other.stream,
    expected: other.version,
    events: encoded,
  }));
  await prepareAll(
    [
      { of: target, events, basis },
      ...beside.map(({ other: of, from: basis }) => ({ of, events: of.events, basis })),
    ],
    [
      [stream, basis.version, encoded],
      ...also.map((each) => [each.stream, each.expected, each.events] as const),
    ],
  );
  const { also: appendedAlso = [], ...appended } = await (reads.length + also.length === 0
    ? log.append(stream, basis.version, encoded)
    : log.append(stream, basis.version, encoded, { reads, also }));
  const happened = events.map((event) => ({ ...event, metadata: execution.metadata }));
  states.advance(decider, { stream, from: basis, events: happened, encoded, to: appended });
  for (const [index, to] of appendedAlso.entries()) {
    const { other, from, encoded: stored } = beside[index] as Beside;
    const metadata = other.metadata ?? execution.metadata;
    const itsEvents = other.events.map((event) => ({ ...event, metadata }));
    states.advance(other.decider, { stream: other.stream, from, events: itsEvents, encoded: stored, to });
  }
  return appended;
};

type Prepared = {
  readonly of: Pick<Target<never, never>, 'prepare'>;
  readonly events: readonly AnnalsEvent[];
  readonly basis: Known<unknown>;
};

/** All that can be refused is checked first: what is written for a refused append would stay in the log. */
const prepareAll = async (
  prepared: readonly Prepared[],
  parts: Parameters<typeof checkParts>[0],
): Promise<void> => {
  const preparing = prepared.filter(({ of }) => of.prepare !== undefined);
  if (preparing.length === 0) return;
  checkParts(parts);
  for (const looksOnly of preparing.length > 1 ? [true, false] : [false])
    for (const { of, events, basis } of preparing)
      await of.prepare?.(events as never, basis as never, { looksOnly });
};

type Beside = {
  readonly other: Other;
  readonly from: Known<unknown>;
  readonly encoded: Awaited<ReturnType<Codec['encodeAll']>>;
};

/** Their ids follow those of the command’s own events, by which a repeated command finds itself. */
const encodeOthers = async (
  { codec, states }: Dependencies,
  others: readonly Other[],
  { execution, first }: { readonly execution: ExecutionContext; readonly first: number },
): Promise<readonly Beside[]> => {
  const beside: Beside[] = [];
  let ordinal = first;
  for (const other of others) {
    const { decider, stream, version, events, metadata = execution.metadata } = other;
    const from = await states.load(decider, stream);
    if (from.version !== version) throw new StaleVersion(stream, version);
    const unencoded = events.map((event, index) => ({ id: execution.ids.event(ordinal + index), event }));
    ordinal += events.length;
    const encoded = await codec.encodeAll(stream, metadata, unencoded).catch(refuseForErased);
    beside.push({ other, from, encoded });
  }
  return beside;
};

const refuseForErased = (error: unknown): never => {
  if (error instanceof KeyDestroyed) throw new Rejection('user_deleted', {}, { cause: error });
  throw error;
};

/**
 * The last event of this command if it ran before a crash, found by its reserved ids. All of its events were
 * appended together.
 */
const findOwn = async (
  { log }: Dependencies,
  stream: StreamName,
  { ids, mayBeRepeatAfter: after }: ExecutionContext,
): Promise<Appended | undefined> => {
  let own = after === undefined ? undefined : await log.find(stream, ids.event(0), after);
  for (let ordinal = 1; own !== undefined; ) {
    const from = (own.version + 1) as Version;
    const next = await Array.fromAsync(log.read(stream, from, (own.version + OWN_READ_AT_ONCE) as Version));
    const events = next.flat();
    for (const { id, version, position } of events) {
      if (id !== ids.event(ordinal)) return own;
      own = { version, position };
      ordinal += 1;
    }
    if (events.length < OWN_READ_AT_ONCE) return own;
  }
  return undefined;
};

/** More events than nearly every command appends, so that one read finds the last of them. */
const OWN_READ_AT_ONCE = 16;

const isUnwritten = async ({ log }: Dependencies, stream: StreamName): Promise<boolean> => {
  for await (const [first] of log.read(stream, FIRST, FIRST)) return first === undefined;
  return true;
};
