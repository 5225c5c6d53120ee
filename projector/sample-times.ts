import { SAMPLE_EVERY_S } from '#process/operations/samples.ts';

const EVERY_MS = SAMPLE_EVERY_S * 1_000;
/** A timer may fire a little early, and must not fire twice per interval. */
const EARLY_MS = 100;

/** Aligned to the interval, so that points of a plot are comparable, whichever process takes them. */
export const untilNextSampleMs = (nowMs: number): number => {
  const untilMs = EVERY_MS - (nowMs % EVERY_MS);
  return untilMs > EARLY_MS ? untilMs : untilMs + EVERY_MS;
};

/** The time whose deliveries a sample counts: since the sample before, within reason. */
export const sampledMs = (at: Date, before: Date | undefined): number =>
  before === undefined ? EVERY_MS : Math.min(Math.max(at.getTime() - before.getTime(), 1_000), 2 * EVERY_MS);
