import { setTimeout as delay } from 'node:timers/promises';
import type { EventId, Position } from '#shared/brands.ts';
import { isPassing } from '#shared/database/failures.ts';
import type { Doorbell } from '#shared/doorbell.ts';
import { LogHole, LogWentBack } from '../errors.ts';
import { type RecordedEvent, START } from '../event-log.ts';
import type { ReadLog } from './read.ts';

const POLL_MS = 250;
const BACKOFF_FIRST_MS = 50;
const BACKOFF_MAX_MS = 1_000;

/**
 * Pages through the log from a position and waits at its end for the bell; a server that is away is waited for.
 * Each page shows that the log still has the event before it.
 */
export async function* follow(
  { readLog, bell }: { readLog: ReadLog; bell: Doorbell },
  after: Position,
  signal: AbortSignal,
  id?: EventId,
): AsyncGenerator<readonly RecordedEvent[]> {
  let last = after;
  let lastId = after === START ? undefined : id;
  let backoffMs = BACKOFF_FIRST_MS;
  while (!signal.aborted) {
    const heard = bell.heard;
    const page = await readLog(last).catch(orPassing);
    if (page === 'away') {
      await delay(backoffMs, undefined, { signal }).catch(() => {});
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS);
      continue;
    }
    backoffMs = BACKOFF_FIRST_MS;
    if (lastId !== undefined && page.at !== lastId) throw new LogWentBack({ position: last, id: lastId }, page.at);
    const whole = wholePart(last, page.events);
    last = whole.at(-1)?.position ?? last;
    lastId = whole.at(-1)?.id ?? page.at;
    if (whole.length > 0) yield whole;
    const [hole] = page.events.slice(whole.length);
    if (hole) throw new LogHole({ after: last, found: hole.position });
    // Whatever was committed since then has rung, or will.
    if (!page.isCut) await bell.wait(heard, POLL_MS, signal);
  }
}

const orPassing = (error: unknown): 'away' => {
  if (isPassing(error)) return 'away';
  throw error;
};

/** Positions are dense, so a hole is damage. What comes before it is handed over. */
const wholePart = (after: Position, events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const end = events.findIndex(({ position }, index) => position !== after + index + 1);
  return end === -1 ? events : events.slice(0, end);
};
