import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { moveCheckpoint } from '#shared/follower/checkpoint.ts';
import { catchUp, demandLive, read, Stopped, type Work } from './catch-up.ts';
import { readDefinition } from './definition.ts';
import { addIndexes, inBackground, writeInParts } from './fill.ts';
import { keepDigest } from './kept-digest.ts';
import { useReadModel } from './schema.ts';
import { swapIn } from './swap.ts';
import { beginNext, dropAside, dropNext, type Held, hold, lockVersions } from './versions.ts';
import { keepViews } from './views.ts';

type Rebuilt = { readonly events: number; readonly position: Position };

/**
 * Builds the read model again from the whole log, beside the live one, and then swaps it in; the live one
 * stays as the previous version. Until that moment nothing live changes, and only tables are written: nothing
 * is delivered again.
 */
export const rebuild = async (work: Work): Promise<Rebuilt> => {
  const { pool, eventLog, tables, signal } = work;
  await using lock = await lockVersions(pool);
  if (!lock) throw underWay();
  const upTo = await demandLive(work);
  const since = new Date(Date.now() - CLOCKS_DIFFER_MS);
  await demandAsideGone(pool);
  const next = await beginNext(pool, tables, eventLog.identity);
  try {
    const events = await fill(work, next, upTo);
    await addIndexes(work, (await readDefinition(tables)).indexes, beginOn(next));
    await inBackground(pool, async (connection) => {
      await beginOn(next)(connection);
      await keepViews(connection, tables);
      await keepDigest(connection, tables);
    });
    let late = 0;
    const onProgress: Work['onProgress'] = (progress) => {
      if (progress.step === 'events') late = progress.events;
      work.onProgress(
        progress.step === 'events'
          ? { ...progress, events: events + progress.events, from: START }
          : progress,
      );
    };
    await catchUp({ ...work, onProgress }, next, upTo);
    const position = await swapIn(work, next, since);
    // If somebody still reads it, the next rebuild drops it.
    await dropAside(pool);
    return { events: events + late, position };
  } catch (error) {
    await dropNext(pool, next).catch(() => {});
    throw signal.aborted ? new Stopped() : error;
  }
};

export const underWay = (): StartRefused =>
  new StartRefused(
    'A rebuild, a rollback or a verification of the read model is already in progress: wait for its end, or stop it.',
  );

/** The version before the previous one occupies the schema that a swap needs. */
export const demandAsideGone = async (pool: Pool): Promise<void> => {
  if (await dropAside(pool)) return;
  throw new StartRefused(
    'An earlier version of the read model is still being read: retry when that query has finished.',
  );
};

/** The server’s clock, which dates operator commands, may be behind ours. */
const CLOCKS_DIFFER_MS = 60_000;

/** Applies the log up to a position. */
const fill = async (work: Work, next: Held, upTo: Position): Promise<number> => {
  let [events, position] = [0, START];
  for await (const { prepared, last, count } of read(work, { after: START, upTo })) {
    await writeInParts(work, prepared, beginOn(next));
    await inBackground(work.pool, (connection) =>
      moveCheckpoint(connection, next.follower, { ...next, from: position, to: last }),
    );
    position = last;
    events += count;
    work.onProgress({ step: 'events', events, position, from: START, upTo });
  }
  return events;
};

const beginOn = (next: Held) => async (connection: Connection) => {
  await hold(connection, next, 'share');
  await useReadModel(connection, next.schema);
};
