import type { AggregateState } from '#kernel/decide/state.ts';
import type { Row } from '#kernel/registry/registry.ts';

/** Computes the form from the present state; `demandTo` throws unless the caller also has another right. */
export type FormOn = (given: Row, state: AggregateState, demandTo: (operation: string) => void) => Row;
