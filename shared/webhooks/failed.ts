/** The failed deliveries, as conditions: each is written so that an index of few deliveries matches it. */

/** A dead letter. */
export const IS_DEAD = `state in ('dead', 'withheld') and state = 'dead'`;
/** Failed since it was last made due, and waits for its next attempt. */
export const IS_RETRIED = `state = 'due' and tries > 0`;
