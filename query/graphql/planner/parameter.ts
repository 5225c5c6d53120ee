import type { Caller } from '#shared/policy.ts';

/** The sources of parameters: everything that differs between two runs of one plan. */
export type Inputs = {
  readonly caller: Caller;
  /** Whether new cursors name their event. */
  readonly namesEvents: boolean;
  /** The arguments of each field that has any, in the order of compilation. */
  readonly argumentValues: readonly ArgumentValues[];
};

export type ArgumentValues = Readonly<Record<string, unknown>>;

export type Value = string | number | boolean | null;

/** A placeholder for a value. Its type is explicit, so that PostgreSQL never has to infer it. */
export type Parameter = {
  readonly type: 'bigint' | 'bigint[]' | 'boolean' | 'date' | 'numeric' | 'text' | 'timestamptz';
  read(inputs: Inputs): Value;
  /** The best plan depends so much on the value that PostgreSQL plans for each. */
  readonly isDecisive?: boolean;
  /** The value is a text search, which runs on connections of its own. */
  readonly isSearch?: boolean;
};
