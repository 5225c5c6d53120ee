/**
 * The advisory lock that the tests share which use the server; its keeper takes it alone before the server
 * stops.
 */
export const KEPT = 7_203_441;
