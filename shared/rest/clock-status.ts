import * as z from 'zod';
import { timestamp } from '#kernel/base/values.ts';

const largest = z.array(
  z.strictObject({
    against: z.string().meta({
      description:
        'The other clock: of the `database`, or of the authority that stamps heads with the time (`time stamps`).',
      examples: ['database'],
    }),
    driftMs: z.number().meta({
      description:
        'How far the clock of a process was ahead of it, in milliseconds; negative if it was slow.',
    }),
    uncertaintyMs: z.number().nonnegative().meta({ description: 'The drift is known this exactly.' }),
    at: timestamp,
    role: z.string().meta({ examples: ['annals-command'] }),
  }),
);

/** The clocks of the processes, which give events their times. */
export const ClockStatus = z
  .strictObject({
    source: z.string().nullable().meta({
      description: 'The source that synchronizes the clocks, as CLOCK_SOURCE says; null means unknown.',
    }),
    since: z
      .string()
      .nullable()
      .meta({
        description: 'The day of the first measurement; null if there was none.',
        examples: ['2026-11-30'],
      }),
    measurements: z.int().nonnegative(),
    largest: largest.meta({ description: 'The largest drift that was ever measured, by the other clock.' }),
    wentBack: z.int().nonnegative().meta({
      description:
        'The number of events whose time is before that of the event before them in their item, at most 1000: a clock was set back, or two clocks differ.',
    }),
    recent: largest.meta({ description: 'The largest drift of today and yesterday, by the other clock.' }),
    latestWentBack: z
      .array(z.strictObject({ stream: z.string(), version: z.int(), at: timestamp, before: timestamp }))
      .exactOptional()
      .meta({ description: 'The latest of these events. Only administrators see them.' }),
  })
  .meta({ id: 'ClockStatus' });
