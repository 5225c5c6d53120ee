/**
 * What of the ledger has failed, as conditions on a delivery: each is so written that an index of few
 * deliveries has it.
 */

/** Given up after its last attempt. */
export const IS_DEAD = `state in ('dead', 'withheld') and state = 'dead'`;
/** Failed since it was last made due, and waits for its next attempt. */
export const IS_RETRIED = `state = 'due' and tries > 0`;
