import type { Logger } from 'pino';

/** A structured log: JSON lines without secrets and personal fields. */
export type Log = Logger;
