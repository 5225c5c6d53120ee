/**
 * Ids count from here: 41 bits of milliseconds last until 2095, and 12 bits distinguish the ids of one
 * millisecond.
 */
export const EPOCH_MS = Date.UTC(2026, 0, 1);
export const PER_MS = 4_096;

/** When an id was created, by the clock of the process that created it. */
export const timeOfId = (id: number): number => EPOCH_MS + Math.floor(id / PER_MS);
