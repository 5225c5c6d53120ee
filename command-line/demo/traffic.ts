import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedDemo, Send } from '#kernel/demo/demo.ts';
import { randomFrom } from '#kernel/demo/random.ts';
import { readPeople } from './make-people.ts';

type Traffic = {
  readonly send: Send;
  readonly planned: PlannedDemo;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Told after each step. */
  onStep(steps: number, leftMs: number): void;
};

const PAUSE_MIN_MS = 100;
const PAUSE_SPREAD_MS = 600;
/** Busy and quiet times take turns, as they do where people are. */
const WAVE_MS = 240_000;
const quietAt = (nowMs: number): number => 1.05 + Math.sin((2 * Math.PI * nowMs) / WAVE_MS);

/** Lets the people of the demo read and write. Ends early when it is told to. */
export const keepTraffic = async ({ send, planned, durationMs, signal, onStep }: Traffic): Promise<void> => {
  const endsAtMs = performance.now() + durationMs;
  // Another each time, so that it does not say the same again.
  const random = randomFrom(Date.now());
  const people = await readPeople(send, planned.people);
  for (let steps = 1; performance.now() < endsAtMs && !signal.aborted; steps += 1) {
    await planned.act({ send, random, people }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    onStep(steps, Math.max(0, endsAtMs - performance.now()));
    await delay(PAUSE_MIN_MS + random.below(PAUSE_SPREAD_MS) * quietAt(performance.now()), undefined, { signal }).catch(() => {});
  }
};
