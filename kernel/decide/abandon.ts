import type { Kind } from '../registry/registry.ts';
import type { AggregateState, Happened } from './state.ts';

type Abandoned = { readonly field: string; readonly id: number; readonly claim: string };

/**
 * The fence: once this is appended, an append that expects the version at which a unique value was claimed cannot succeed. Nothing
 * follows an end, so that no fence is needed then.
 */
export const abandon = (kind: Kind, { field, id, claim }: Abandoned, state: AggregateState): readonly Happened[] =>
  state.status === 'ended' || state.abandoned === claim
    ? []
    : [{ type: `${kind.name}.${field}_abandoned`, data: { [`${kind.name}Id`]: id, claim } }];
