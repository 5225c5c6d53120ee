import type { Caller } from '#shared/policy.ts';

/** What a statement's values are taken from: all that differs between two runs of one plan. */
export type Inputs = {
  readonly caller: Caller;
  /** The arguments of each field that has any, in the order in which the plan met them. */
  readonly argumentValues: readonly ArgumentValues[];
};

export type ArgumentValues = Readonly<Record<string, unknown>>;

export type Value = string | number | boolean | null;

/** A place for a value. The type is written down, so that PostgreSQL never has to guess it. */
export type Parameter = {
  readonly type: 'bigint' | 'bigint[]' | 'boolean' | 'date' | 'numeric' | 'text' | 'timestamptz';
  read(inputs: Inputs): Value;
  /** Which plan is good depends on the value so much that PostgreSQL plans for each. */
  readonly isDecisive?: boolean;
  /** Whether its value is words to look for, which run apart from all else. */
  readonly isSearch?: boolean;
};
