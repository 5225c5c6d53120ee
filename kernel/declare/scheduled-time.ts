/** A time at which a schedule runs, as its form receives it. */
export type ScheduledTime = {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** The date then in the time zone of the schedule: `'2026-11-30'`. */
  readonly date: string;
  /** The time of day then in the time zone of the schedule, to the minute: `'02:30'`. */
  readonly time: string;
};
