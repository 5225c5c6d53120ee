import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Cursor } from '#shared/cursor.ts';
import { tablesOf } from '#shared/read-model/tables.ts';

/** A change as the payloads of subscriptions tell it. */
export type Happening = {
  readonly cursor: Cursor;
  readonly type: string;
  readonly at: string;
  /** What it has happened to; undefined for what has happened to none of these. */
  readonly kind: string | undefined;
  readonly subjectId: string | null;
};

export const happeningOf = (domain: Domain, { type, at, stream }: Change, cursor: Cursor): Happening => {
  const row = tablesOf(domain).rowOf(stream);
  return {
    cursor,
    type,
    at: new Date(at).toISOString(),
    kind: row?.table.kind,
    subjectId: row ? String(row.id) : null,
  };
};
