import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Cursor } from '#shared/cursor.ts';

/** A change as the payloads of subscriptions tell it. */
export type Happening = {
  readonly cursor: Cursor;
  readonly type: string;
  readonly at: string;
  /** What it has happened to; undefined for what has happened to none of these. */
  readonly kind: 'article' | 'comment' | 'user' | 'webhook' | undefined;
  readonly subjectId: string | null;
};

export const happeningOf = ({ type, at, stream }: Change, cursor: Cursor): Happening => {
  const [, kind, id] = SUBJECT.exec(stream) ?? [];
  return { cursor, type, at: new Date(at).toISOString(), kind: kind as Happening['kind'], subjectId: id ?? null };
};

/** As `streamName` writes it. The stream is known where the data is not. */
const SUBJECT = /^(article|comment|user|webhook)-(\d+)$/;
