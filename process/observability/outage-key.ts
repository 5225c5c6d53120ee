import { CommandUnavailable } from '#shared/command-gateway/command-gateway.ts';
import { isPassing } from '#shared/database/failures.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import { causesOf } from '#shared/outage-lines.ts';

/**
 * The key of a line that an outage of an engine repeats: its words and the cause, without parts that differ
 * from one failure to the next. Undefined for any other line.
 */
export const outageKeyOf = (fields: unknown, message: unknown): string | undefined => {
  if (typeof fields !== 'object' || fields === null || typeof message !== 'string') return undefined;
  const { err, check, code, cause, reason } = fields as Readonly<Record<string, unknown>>;
  if (typeof check === 'string') return keyOf(message, check, causesOf(err));
  if (code === 'unavailable') return keyOf(message, String(cause ?? reason));
  return isOutage(err) ? keyOf(message, causesOf(err)) : undefined;
};

const isOutage = (error: unknown): boolean =>
  error instanceof LogUnavailable || error instanceof CommandUnavailable || isPassing(error);

/** Numbers, and ids in hexadecimal digits. */
const DIFFERING = /\b[0-9a-f]{8}[-0-9a-f]*\b|\d+/g;

const keyOf = (...parts: readonly string[]): string => parts.join('\n').replaceAll(DIFFERING, '');
