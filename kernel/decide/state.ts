import type { Actor } from '#shared/events/metadata.ts';
import type { Row } from '../registry/registry.ts';

/** What the events of an aggregate add up to. */
export type AggregateState =
  | ({ readonly status: 'absent' } & Abandoned)
  | Present
  /** Keeps what it belonged to, because rights depend on it even when nothing is left to do. */
  | { readonly status: 'ended'; readonly fields: Row };

/** The latest claim of a unique value that was given up: of what was not there yet, it has spent the id. */
type Abandoned = { readonly abandoned?: string };

export type Present = Abandoned & {
  readonly status: 'present';
  /** With the id. */
  readonly fields: Row;
  /** Each with a line break, in one text, by whose length the state weighs. */
  readonly lostUploads: string;
  /**
   * The highest number that an item was given, by the lists whose items have numbers: none is given again.
   */
  readonly numbers?: Readonly<Record<string, number>>;
};

export const ABSENT: AggregateState = { status: 'absent' };

/** As it was decided, and as it was recorded. */
export type Happened = {
  readonly type: string;
  readonly data: Row;
  readonly metadata?: { readonly at: string; readonly actor: Actor };
};
