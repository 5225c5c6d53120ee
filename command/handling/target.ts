import type { StreamName, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Context, Look } from '#kernel/decide/guards.ts';
import type { AggregateState, Happened } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { ReadAt } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { ownOf, userIdOf } from '#shared/policy.ts';
import type { Target as AnyTarget } from '../execute.ts';
import type { Sent } from './execution-context.ts';

export type Target = AnyTarget<AggregateState, AnnalsEvent>;

export const streamOf = ({ name }: Kind, id: number): StreamName => streamName(name, id);

/** The caller who repeats erasures. */
export const ERASURE_LIST = 'erasure-list';

export const contextOf = ({ caller, execution }: Sent, look: Look): Context => ({
  callerId: userIdOf(caller),
  own: ownOf(caller),
  at: execution.metadata.at,
  look,
  isErasedBefore: caller.kind === 'system' && caller.name === ERASURE_LIST ? true : undefined,
});

type Prepare = NonNullable<Target['prepare']>;

/** The versions of streams that must be unchanged when the events are appended. */
export type Fence = ReadonlyMap<StreamName, Version>;

/** If a stream was read twice, the earlier version counts. */
export const fencedBy = (earlier: Fence, later: Fence): Fence =>
  later.size === 0 ? earlier : new Map([...later, ...earlier]);

export const readsIn = (fence: Fence): readonly ReadAt[] =>
  [...fence].map(([stream, version]) => ({ stream, version }));

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
