import type { RequestHandler } from 'express';
import type { ReadLog } from '#shared/read-log/read-log.ts';

/** Comes before every route if reads are logged. */
export const recordingOf = async (readLog: ReadLog | undefined): Promise<readonly RequestHandler[]> =>
  readLog === undefined ? [] : [(await import('./record-reads.ts')).recordReads(readLog)];
