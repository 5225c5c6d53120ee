import { setTimeout as delay } from 'node:timers/promises';
import type { KindDecider } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { StreamName, Version } from '#shared/brands.ts';
import { isDamage } from '#shared/change-stream/damage.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Known } from '../states.ts';
import { type AppendDependencies, tryAppend } from '../try-append.ts';
import { createTurns } from '../turns.ts';
import type { ClaimDecider, ClaimState, Holder } from './claim.ts';

/**
 * Keeps to the number of those who may have one thing. A claim that is not used is released when somebody
 * else wants the place.
 */
export type Claims = {
  /** Claims all of these places for an aggregate whose stream is at `version`, or refuses. */
  claim(wanted: readonly Wanted[], metadata: MetadataContext): Promise<void>;
};

type Wanted = {
  readonly decider: ClaimDecider;
  readonly stream: StreamName;
  /** So many may have it. */
  readonly max: number;
  readonly id: number;
  readonly version: Version;
  readonly holders: Holders;
  /** Where all places are in use. */
  refusal(): Rejection;
};

/** Those who may have a place, in streams of their own. */
type Holders = {
  readonly decider: Pick<KindDecider, 'initial' | 'evolve'>;
  streamOf(id: number): StreamName;
  /** Whether one uses a place by what may be erased, and is remembered for a while after that. */
  readonly isPersonal: boolean;
  /** Whether one uses a place. */
  uses(state: AggregateState): boolean;
  /** Moves its stream on, so that no append that was announced for the version of now can come any more. */
  fence(id: number, claim: string, state: AggregateState): readonly AnnalsEvent[];
};

/** How long the use of a claim may take before somebody else fences it off. */
const USE_MAX_MS = 2_000;
const LOOK_AGAIN_MS = 50;
const PATIENCE_MS = 8_000;

/** Told of what cannot be read of those who hold a place, and why. */
export type TellLost = (error: unknown, stream: StreamName) => void;
type Dependencies = AppendDependencies & { readonly tellLost: TellLost };

export const createClaims = (dependencies: Dependencies): Claims => {
  // Those in this process who want the same thing wait for each other, so that only those of other processes
  // conflict.
  const turns = createTurns<StreamName>();
  const inTurn = (each: Wanted, isLooking: boolean, metadata: MetadataContext): Promise<void> =>
    turns.take(each.stream, () => claim(dependencies, each, { isLooking, metadata }));
  return {
    async claim(wanted, metadata) {
      // Whoever is refused one place has claimed none of the others, which would be taken for a while.
      if (wanted.length > 1) for (const each of wanted) await inTurn(each, true, metadata);
      for (const each of wanted) await inTurn(each, false, metadata);
    },
  };
};

type How = { readonly isLooking: boolean; readonly metadata: MetadataContext };

/** Where it only looks, it claims nothing, and refuses as it would otherwise. */
const claim = async (
  dependencies: Dependencies,
  wanted: Wanted,
  { isLooking, metadata }: How,
): Promise<void> => {
  const { decider, stream, max, id, version } = wanted;
  const expiresAtMs = performance.now() + PATIENCE_MS;
  while (performance.now() < expiresAtMs) {
    const known = await dependencies.states.load(decider, stream);
    const others = Object.entries(known.state.holders).filter(([other]) => Number(other) !== id);
    if (others.length < max) {
      if (isLooking) return;
      // Of now, and not of the command: who has waited its turn has the whole time to use it.
      const events = decider.decide(
        { type: 'Claim', id, version, at: new Date().toISOString() },
        known.state,
      );
      if (await tryAppend(dependencies, { decider, stream, from: known, events }, metadata)) return;
    } else {
      const found = await free(dependencies, { wanted, known, others }, metadata);
      if (found === 'in use') throw wanted.refusal();
      if (found === 'perhaps') await delay(LOOK_AGAIN_MS);
    }
  }
  throw new Rejection('conflict');
};

/** Names one claim for the fence; a later claim by the same holder has another version, thus another name. */
export const claimName = (stream: StreamName, version: Version): string => `${stream}@${version}`;

type Held = {
  readonly wanted: Wanted;
  readonly known: Known<ClaimState>;
  readonly others: readonly (readonly [string, Holder])[];
};

/**
 * Brings the first claim that is not in use one step nearer to its release; where it may be used yet, the
 * others are looked at before.
 */
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
    if (!isRecent(at)) {
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
 * Nothing where an event of it cannot be read: it may use its place, and keeps it until an operator has
 * looked at it.
 */
const read = async (
  { states, tellLost }: Dependencies,
  holders: Holders,
  id: number,
): Promise<Known<AggregateState> | undefined> => {
  const stream = holders.streamOf(id);
  try {
    return await states[holders.isPersonal ? 'reload' : 'load'](holders.decider, stream);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // It may as well be a fault of ours.
    tellLost(error, stream);
    return undefined;
  }
};

/** Where clocks differ by more than that, a claim counts as old: the fence makes taking it over safe. */
const isRecent = (at: string): boolean => Math.abs(Date.now() - Date.parse(at)) <= USE_MAX_MS;
