/**
 * Ids count from here: 41 bits of milliseconds last until 2095, and 12 bits distinguish the ids of one
 * millisecond.
 */
export const EPOCH_MS = Date.UTC(2026, 0, 1);
export const PER_MS = 4_096;

/**
 * The number of cells whose new ids never meet, except those that reactions derive from events. Each cell has
 * the ids whose remainder is its number, 32 per millisecond.
 */
export const CELLS = 128;

/** The distance between two ids of a cell; an installation without a number uses every id. */
export const idStepOf = (cell: number | undefined): number => (cell === undefined ? 1 : CELLS);

/** When an id was created, by the clock of the process that created it. */
export const timeOfId = (id: number): number => EPOCH_MS + Math.floor(id / PER_MS);
