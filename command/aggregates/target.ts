import type { AggregateState, Happened } from '#kernel/decide/evolve.ts';
import type { Context, Look } from '#kernel/decide/guards.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { StreamName } from '#shared/brands.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import { userIdOf } from '#shared/policy.ts';
import type { Target as AnyTarget } from '../execute.ts';
import type { Sent } from '../handler.ts';

export type Target = AnyTarget<AggregateState, AnnalsEvent>;

export const streamOf = ({ name }: Kind, id: number): StreamName => streamName(name, id);

export const contextOf = ({ caller, circumstances }: Sent, look: Look): Context => ({
  callerId: userIdOf(caller),
  at: circumstances.metadata.at,
  look,
});

/** The codec checks them against their schemas. */
export const toEvents = (events: readonly Happened[]): readonly AnnalsEvent[] => events as readonly unknown[] as readonly AnnalsEvent[];
