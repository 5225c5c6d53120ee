/**
 * The member of a client that sends its requests, and the member of a list that is its path: for
 * `annals/tanstack`, which keeps copies of lists.
 */
export const SOURCE = Symbol.for('annals.source');
