import type { Position } from '#shared/brands.ts';

/** How long ago the primary had what a replica does not have yet. */
export type Lag = {
  primaryHas(position: Position): void;
  replicaHas(position: Position): void;
  seconds(): number;
};

/** With four looks in a second, that of an hour. */
const LOOKS_MAX = 14_400;

export const createLag = (nowMs: () => number = () => performance.now()): Lag => {
  /** What the primary had when, and the replica had not; the oldest first. */
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
