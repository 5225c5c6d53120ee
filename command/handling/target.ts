import type { StreamName, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Context, Look } from '#kernel/decide/guards.ts';
import type { AggregateState, Happened } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { ownOf, userIdOf } from '#shared/policy.ts';
import type { Target as AnyTarget } from '../execute.ts';
import type { Sent } from './execution-context.ts';

export type Target = AnyTarget<AggregateState, AnnalsEvent>;

export const streamOf = ({ name }: Kind, id: number): StreamName => streamName(name, id);

export const contextOf = ({ caller, execution }: Sent, look: Look): Context => ({
  callerId: userIdOf(caller),
  own: ownOf(caller),
  at: execution.metadata.at,
  look,
});

type Prepare = NonNullable<Target['prepare']>;

/**
 * The versions of streams that must be unchanged when the events are appended. If a stream was read twice,
 * the first version counts.
 */
export type Fence = Map<StreamName, Version>;

/** The reads to verify on append; none for commands that read nothing. */
export const fenced = (reads: readonly string[], fence: Fence): Pick<Target, 'reads'> =>
  reads.length === 0 ? {} : { reads: () => [...fence].map(([stream, version]) => ({ stream, version })) };

/** Runs several preparations in order before the append. */
export const preparing = (...all: readonly (Prepare | undefined)[]): Pick<Target, 'prepare'> => {
  const given = all.filter((each) => each !== undefined);
  if (given.length === 0) return {};
  return {
    async prepare(events, basis, how) {
      for (const prepare of given) await prepare(events, basis, how);
    },
  };
};

/** The codec checks the schemas. */
export const toEvents = (events: readonly Happened[]): readonly AnnalsEvent[] =>
  events as readonly unknown[] as readonly AnnalsEvent[];
