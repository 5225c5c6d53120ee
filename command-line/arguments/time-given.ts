import type { Given } from './command.ts';
import { UsageError } from './usage-error.ts';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const AGO = /^(\d{1,6})([smhd])$/;

export const TIME_PLACEHOLDER = '<time>';
/** Completes the sentence of an option. */
export const TIME_FORMS = 'a time, or 30m, 24h, 7d ago, today, yesterday';

/** The time of an option, as the interface expects it (RFC 3339): a time, a time ago, or a local day. */
export const timeOf = ({ values }: Given, option: string, now = new Date()): string | undefined => {
  const text = values.get(option)?.at(-1);
  if (text === undefined) return undefined;
  const time = readTime(text, now);
  if (time === undefined || Number.isNaN(time.getTime()))
    throw new UsageError(`--${option} must be ${TIME_FORMS}, but is “${text}”`);
  return time.toISOString();
};

const readTime = (text: string, now: Date): Date | undefined => {
  const [, count, unit = ''] = AGO.exec(text) ?? [];
  if (count !== undefined) return new Date(now.getTime() - Number(count) * (UNITS_MS[unit] ?? 0));
  if (text === 'today' || text === 'yesterday') {
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (text === 'yesterday' ? 1 : 0));
  }
  // A day begins at local midnight; a time without a zone is local, too.
  const day = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (day !== null) return new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3]));
  return /^\d{4}-\d{2}-\d{2}T/.test(text) ? new Date(text) : undefined;
};
