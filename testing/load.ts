import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

const CORES = cpus().length;
/** The tests themselves keep this many runnable processes a core busy, and are fast enough with them. */
const OWN_PER_CORE = 2;
const SAMPLE_EVERY_MS = 200;
/** The weight of one sample in the moving average. */
const WEIGHT = 0.1;

/**
 * The load average of a minute rises too late for a run that has just begun, so the present number of
 * runnable processes counts as well (Linux).
 */
const runnableNow = (): number => {
  try {
    return Number(/ (\d+)\//.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
};

let runnable = runnableNow();
let sampledAtMs = performance.now();

const sample = (): void => {
  const nowMs = performance.now();
  if (nowMs - sampledAtMs < SAMPLE_EVERY_MS) return;
  // After a pause, the old average says little.
  const weight = Math.min(1, (WEIGHT * (nowMs - sampledAtMs)) / SAMPLE_EVERY_MS);
  runnable += weight * (runnableNow() - runnable);
  sampledAtMs = nowMs;
};

/** The factor by which this many runnable processes slow the machine down; 1 on a quiet one. */
export const slownessOf = (processes: number, cores: number): number =>
  Math.max(1, 1 + processes / cores - OWN_PER_CORE);

const slowness = (): number => {
  sample();
  return slownessOf(Math.max(runnable, loadavg()[0] ?? 0), CORES);
};

/** A time limit, scaled by the present load of the machine. Every time limit of a test comes from here. */
export const scaled = (quietMs: number): number => Math.ceil(quietMs * slowness());

type Deadline = {
  isOver(): boolean;
  /** For messages. */
  toString(): string;
};

/**
 * A deadline whose clock slows down with the machine between two checks, so that later load extends it, too.
 */
export const startDeadline = (quietMs: number): Deadline => {
  const startedAtMs = performance.now();
  let [spentMs, lookedAtMs] = [0, startedAtMs];
  return {
    isOver() {
      const nowMs = performance.now();
      spentMs += (nowMs - lookedAtMs) / slowness();
      lookedAtMs = nowMs;
      return spentMs > quietMs;
    },
    toString: () => `${quietMs} ms (${Math.round(lookedAtMs - startedAtMs)} ms on this loaded machine)`,
  };
};
