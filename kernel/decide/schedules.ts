import { createRequire } from 'node:module';
import type { Cron, CronOptions } from 'croner';
import type { ScheduledTime } from '../declare/scheduled-time.ts';
import type { Domain, Kind, ScheduleInfo } from '../registry/registry.ts';

/** The times of a schedule, in milliseconds. */
export type ScheduleTimes = {
  /** The first time after another; undefined if there is none. */
  next(afterMs: number): number | undefined;
  /** The latest times at or before another, the newest first. */
  latest(untilMs: number, max: number): readonly number[];
};

type Timing = Pick<ScheduleInfo, 'cron' | 'timeZone'>;

/** Loaded with the first schedule: a domain without any does without. */
const croner = (): (new (pattern: string, options: CronOptions) => Cron) =>
  (createRequire(import.meta.url)('croner') as typeof import('croner')).Cron;

/**
 * The times of a cron expression of five fields. A fixed time that the clocks skip is at the end of the gap, and
 * one that they show twice is the first of the two. Throws for an invalid expression.
 */
export const timesOf = ({ cron, timeZone }: Timing): ScheduleTimes => {
  const pattern = new (croner())(cron, {
    timezone: timeZone,
    mode: '5-part',
    fixedTimeRule: 'no-wildcard',
    paused: true,
  });
  return {
    next: (afterMs) => pattern.nextRun(new Date(afterMs))?.getTime(),
    latest: (untilMs, max) => pattern.previousRuns(max, new Date(untilMs + 1)).map((time) => time.getTime()),
  };
};

/** The time as its clocks show it. */
export const scheduledTime = (timeZone: string, atMs: number): ScheduledTime => {
  const at = new Date(atMs);
  // The Swedish notation is that of ISO 8601.
  const [date = '', time = ''] = at
    .toLocaleString('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .split(' ');
  return { at: at.toISOString(), date, time };
};

export type DeclaredSchedule = { readonly kind: Kind; readonly schedule: ScheduleInfo };

export const schedulesOf = ({ kinds }: Pick<Domain, 'kinds'>): readonly DeclaredSchedule[] =>
  Object.values(kinds).flatMap((kind) =>
    Object.values(kind.schedules).map((schedule) => ({ kind, schedule })),
  );
