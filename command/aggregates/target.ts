import type { Context, Look } from '#kernel/decide/guards.ts';
import type { AggregateState, Happened } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { StreamName, Version } from '#shared/brands.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import { ownOf, userIdOf } from '#shared/policy.ts';
import type { Sent } from '../circumstances.ts';
import type { Target as AnyTarget } from '../execute.ts';

export type Target = AnyTarget<AggregateState, AnnalsEvent>;

export const streamOf = ({ name }: Kind, id: number): StreamName => streamName(name, id);

export const contextOf = ({ caller, circumstances }: Sent, look: Look): Context => ({
  callerId: userIdOf(caller),
  own: ownOf(caller),
  at: circumstances.metadata.at,
  look,
});

type Prepare = NonNullable<Target['prepare']>;

/**
 * What must be at the same version still when the events of a decision are appended; of what was seen twice,
 * as it was seen first.
 */
export type Fence = Map<StreamName, Version>;

/** What must not have changed when the events are appended; nothing of commands that read nothing. */
export const fenced = (reads: readonly string[], fence: Fence): Pick<Target, 'reads'> =>
  reads.length === 0 ? {} : { reads: () => [...fence].map(([stream, version]) => ({ stream, version })) };

/** What runs before the append, one after the other. */
export const preparing = (...all: readonly (Prepare | undefined)[]): Pick<Target, 'prepare'> => {
  const given = all.filter((each) => each !== undefined);
  if (given.length === 0) return {};
  return {
    async prepare(events, basis) {
      for (const prepare of given) await prepare(events, basis);
    },
  };
};

/** The codec checks them against their schemas. */
export const toEvents = (events: readonly Happened[]): readonly AnnalsEvent[] =>
  events as readonly unknown[] as readonly AnnalsEvent[];
