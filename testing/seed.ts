const SEED_MAX = 2 ** 31;

/** Repeats what is random in tests. Their names contain it, so that a failed one shows it. */
export const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * SEED_MAX));
