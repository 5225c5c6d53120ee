/**
 * The advisory lock that tests share while they use the server; the keeper takes it exclusively before the
 * server stops.
 */
export const KEPT = 7_203_441;
