import { isDeepStrictEqual } from 'node:util';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { KeptLog } from './authentic-log.ts';
import { type Decided, NOTHING_DECIDED } from './decided.ts';
import { lostOf, readDecided, writeDigests } from './decided-rows.ts';
import type { Statement } from './statement.ts';

type Looking = {
  readonly pool: Pool;
  readonly log: Pick<Log, 'error'>;
  readonly isReader?: boolean;
};

/** The decisions of a statement with their events, of which some may be known. */
export const decidedIn = async (
  looking: Looking,
  { log, decided }: Statement,
  known = NOTHING_DECIDED,
): Promise<Decided> => {
  const read = await readDecided(looking.pool, decided, known);
  for (const batch of decided)
    if (read.contentOf(batch) === undefined)
      looking.log.error(
        { log, ...batch },
        'Somebody has removed or changed a row of public.decided_events, or the database was restored to an earlier time: what an operator has decided about these events no longer counts.',
      );
  return read;
};

/** Reads new decisions. Every process that knows the events of one writes them again. */
export const lookAtDecisions = async (looking: Looking, kept: KeptLog): Promise<void> => {
  const { pool, log, isReader = false } = looking;
  const { statement } = kept;
  const lost = await lostOf(pool, statement.decided);
  const isBack = statement.decided.some(
    (batch) => kept.decided.contentOf(batch) === undefined && !lost.includes(batch),
  );
  if (isBack || !isDeepStrictEqual(statement.decided, kept.decided.batches))
    kept.decided = await decidedIn(looking, statement, kept.decided);
  if (isReader) return;
  for (const batch of lost) {
    const digests = kept.decided.contentOf(batch);
    if (digests === undefined) continue;
    log.error(
      { log: statement.log, ...batch },
      'Somebody has removed or changed a row of public.decided_events, or the database was restored to an earlier time. It is written again.',
    );
    await writeDigests(pool, batch, digests);
  }
};
