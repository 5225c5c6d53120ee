import type { Actor } from '../base/events/metadata.ts';
import type { Row } from '../registry/registry.ts';

/** The state of an aggregate, folded from its events. */
export type AggregateState =
  | ({ readonly status: 'absent' } & Abandoned)
  | Present
  /** Keeps the fields, because rights depend on them after the end. */
  | { readonly status: 'ended'; readonly fields: Row };

/** The latest abandoned claim of a unique value: if the aggregate did not exist yet, its id is used up. */
type Abandoned = { readonly abandoned?: string };

export type Present = Abandoned & {
  readonly status: 'present';
  /** Includes the id. */
  readonly fields: Row;
  /**
   * Each lost upload with a line break, as one string, so that its length counts in the weight of the state.
   */
  readonly lostUploads: string;
  /** The highest number of an item by numbered list: numbers are never reused. */
  readonly numbers?: Readonly<Record<string, number>>;
};

export const ABSENT: AggregateState = { status: 'absent' };

/** An event as decided or as recorded. */
export type Happened = {
  readonly type: string;
  readonly data: Row;
  readonly metadata?: { readonly at: string; readonly actor: Actor };
};
