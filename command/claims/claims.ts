import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { isDamage } from '#shared/visibility/damage.ts';
import type { Known } from '../decider.ts';
import type { Preparing } from '../execute.ts';
import { createKeyedQueue } from '../handling/keyed-queue.ts';
import { type AppendDependencies, tryAppend } from '../handling/try-append.ts';
import type { ClaimDecider, ClaimState, Holder } from './claim.ts';

/**
 * Enforces how many aggregates may have one thing. An unused claim is released when another aggregate wants
 * the place.
 */
type Claims = {
  /**
   * Claims all of these places for an aggregate whose stream is at `version`, or refuses; with `looksOnly`, only
   * refuses.
   */
  claim(wanted: readonly Wanted[], how: How): Promise<void>;
};

type Wanted = {
  readonly decider: ClaimDecider;
  readonly stream: StreamName;
  /** The maximum number of holders. */
  readonly max: number;
  readonly id: number;
  readonly version: Version;
  readonly holders: Holders;
  /** Thrown if all places are in use. */
  refusal(): Rejection;
};

/** The aggregates that can hold a place, each in its own stream. */
type Holders = {
  readonly decider: Pick<KindDecider, 'initial' | 'evolve'>;
  streamOf(id: number): StreamName;
  /** True if a value that makes an aggregate a holder may be erased; caches may keep it for a while. */
  readonly isPersonal: boolean;
  /** True if the aggregate uses a place. */
  uses(state: AggregateState): boolean;
  /** Events that advance the holder’s stream, so that an append announced for its present version fails. */
  fence(id: number, claim: string, state: AggregateState): readonly AnnalsEvent[];
};

/** The time after which another process fences off an unused claim. */
const USE_MAX_MS = 2_000;
const LOOK_AGAIN_MS = 50;
const TIMEOUT_MS = 8_000;

/** Reports a holder whose stream cannot be read. */
export type ReportUnreadable = (error: unknown, stream: StreamName) => void;
type Dependencies = AppendDependencies & {
  readonly reportUnreadable: ReportUnreadable;
  readonly clock: Clock;
};

export const createClaims = (dependencies: Dependencies): Claims => {
  // Claims of the same thing wait for each other in this process, so that only other processes conflict.
  const queue = createKeyedQueue<StreamName>();
  const inQueue = (each: Wanted, how: How): Promise<void> =>
    queue.run(each.stream, () => claim(dependencies, each, how));
  return {
    async claim(wanted, how) {
      // First check all places, so that a refusal of one leaves no claims of the others behind.
      if (wanted.length > 1 || how.looksOnly)
        for (const each of wanted) await inQueue(each, { ...how, looksOnly: true });
      if (!how.looksOnly) for (const each of wanted) await inQueue(each, how);
    },
  };
};

type How = Preparing & { readonly metadata: MetadataContext };

const claim = async (
  dependencies: Dependencies,
  wanted: Wanted,
  { looksOnly, metadata }: How,
): Promise<void> => {
  const { decider, stream, max, id, version } = wanted;
  const { clock } = dependencies;
  const expiresAtMs = clock.elapsedMs() + TIMEOUT_MS;
  while (clock.elapsedMs() < expiresAtMs) {
    const known = await dependencies.states.load(decider, stream);
    const others = Object.entries(known.state.holders).filter(([other]) => Number(other) !== id);
    if (others.length < max) {
      if (looksOnly) return;
      // The present time, not that of the command: a request that waited gets the full time to use its claim.
      const events = decider.decide(
        { type: 'Claim', id, version, at: new Date(clock.nowMs()).toISOString() },
        known.state,
      );
      if (await tryAppend(dependencies, { decider, stream, from: known, events }, metadata)) return;
    } else {
      const found = await free(dependencies, { wanted, known, others }, metadata);
      if (found === 'in use') throw wanted.refusal();
      if (found === 'perhaps') await clock.sleep(LOOK_AGAIN_MS);
    }
  }
  throw new Rejection('conflict');
};

/**
 * Identifies one claim in the fence; a later claim by the same holder has another version, so another name.
 */
export const claimName = (stream: StreamName, version: Version): string => `${stream}@${version}`;

type Held = {
  readonly wanted: Wanted;
  readonly known: Known<ClaimState>;
  readonly others: readonly (readonly [string, Holder])[];
};

/** Brings the first unused claim one step closer to release. Claims that may still be used come last. */
const free = async (
  dependencies: Dependencies,
  held: Held,
  metadata: MetadataContext,
): Promise<'moved' | 'perhaps' | 'in use'> => {
  const { wanted, known, others } = held;
  const { decider, stream, holders } = wanted;
  let isUndecided = false;
  for (const [key, { version, at }] of others) {
    const id = Number(key);
    const holder = await read(dependencies, holders, id);
    if (holder === undefined) continue;
    if (holders.uses(holder.state)) continue;
    if (holder.version > version) {
      const released = decider.decide({ type: 'Release', id, version: holder.version }, known.state);
      await tryAppend(dependencies, { decider, stream, from: known, events: released }, metadata);
      return 'moved';
    }
    if (!isRecent(at, dependencies.clock)) {
      const fence = holders.fence(id, claimName(stream, version), holder.state);
      await tryAppend(
        dependencies,
        { decider: holders.decider, stream: holders.streamOf(id), from: holder, events: fence },
        metadata,
      );
      return 'moved';
    }
    isUndecided = true;
  }
  return isUndecided ? 'perhaps' : 'in use';
};

/**
 * Undefined if an event cannot be read: the holder may use its place, and keeps it until an operator acts.
 */
const read = async (
  { states, reportUnreadable }: Dependencies,
  holders: Holders,
  id: number,
): Promise<Known<AggregateState> | undefined> => {
  const stream = holders.streamOf(id);
  try {
    return await states[holders.isPersonal ? 'reload' : 'load'](holders.decider, stream);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // May also be a defect in our code.
    reportUnreadable(error, stream);
    return undefined;
  }
};

/** If clocks differ by more than that, a claim counts as old; the fence makes taking it over safe. */
const isRecent = (at: string, clock: Clock): boolean =>
  Math.abs(clock.nowMs() - Date.parse(at)) <= USE_MAX_MS;
