import { isLater } from '../client/requests.ts';

/** Cursors of the log, and of the streams of views, which add a stamp to them. */

const logOf = (cursor: string): string => cursor.split('-', 1)[0] ?? '';
const withoutStamp = (cursor: string): string => cursor.split('.', 1)[0] ?? '';

/**
 * Whether a copy that has everything up to one cursor has the write of another one. After the log was
 * replaced, nothing is left to wait for.
 */
export const hasReached = (upTo: string | undefined, token: string): boolean => {
  if (upTo === undefined) return false;
  const [copied, written] = [withoutStamp(upTo), withoutStamp(token)];
  return logOf(copied) !== logOf(written) || !isLater(written, copied);
};

export const laterOf = (one: string | undefined, other: string | undefined): string | undefined =>
  one !== undefined && (other === undefined || isLater(one, other)) ? one : other;

const LOST: ReadonlySet<string> = new Set(['unknown_cursor', 'cursor_of_lost_history', 'invalid_cursor']);
/** The log no longer has what this cursor names, so the copy starts over. */
export const isOfLostCursor = (error: unknown): boolean => LOST.has((error as { code?: string }).code ?? '');
