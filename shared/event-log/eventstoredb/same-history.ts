import { askAgain } from '../ask-again.ts';
import { LogWentBack } from '../errors.ts';
import type { Seen } from '../event-log.ts';
import type { Stored } from './append-client.ts';
import { readEventAt } from './event-at.ts';
import { LATE_MS } from './patience.ts';
import type { Reader } from './read.ts';

/**
 * Looks whether what was seen is still there, after an append that another process of the server has stored than the one before. A
 * process never cuts its log while it runs, and looking after each append would double what it takes.
 */
export const createSameHistory = (reader: Reader): ((stored: Stored, seen: Seen | undefined) => Promise<void>) => {
  let proven: symbol | undefined;
  return async ({ server }, seen) => {
    if (seen === undefined || server === proven) return;
    const found = await askAgain(
      () => readEventAt(reader, seen.position),
      LATE_MS,
      (id) => id !== undefined,
    );
    if (found !== seen.id) throw new LogWentBack(seen, found);
    proven = server;
  };
};
