import type { Position } from '#kernel/base/brands.ts';

/** The time since the primary reached the first position that a replica lacks. */
export type Lag = {
  primaryHas(position: Position): void;
  replicaHas(position: Position): void;
  seconds(): number;
};

/** An hour of four checks per second. */
const LOOKS_MAX = 14_400;

export const createLag = (nowMs: () => number): Lag => {
  /** Positions that the primary had reached and the replica had not, the oldest first. */
  const missing: { readonly position: Position; readonly atMs: number }[] = [];
  return {
    primaryHas(position) {
      if (missing.at(-1)?.position !== position && missing.length < LOOKS_MAX)
        missing.push({ position, atMs: nowMs() });
    },
    replicaHas(position) {
      const left = missing.findIndex((each) => each.position > position);
      missing.splice(0, left === -1 ? missing.length : left);
    },
    seconds: () => (missing[0] === undefined ? 0 : (nowMs() - missing[0].atMs) / 1_000),
  };
};
