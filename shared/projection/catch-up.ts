import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { moveCheckpoint, readCheckpoint } from '#shared/follower/checkpoint.ts';
import { demandCheckpoint } from '#shared/follower/demand-checkpoint.ts';
import { followAhead } from '#shared/follower/follow-ahead.ts';
import { joined, type Prepared, partOf, prepare } from './prepared.ts';
import { projectPrepared } from './project.ts';
import type { Mending } from './retry.ts';
import { useReadModel } from './schema.ts';
import type { Held } from './versions.ts';

/** Dependencies of bringing a version of the read model up to date, and the listener for its progress. */
export type Work = Mending & {
  /** On abort, everything live stays as it is. */
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
};

export type Progress =
  | {
      readonly step: 'events';
      /** The number of events applied so far. */
      readonly events: number;
      readonly position: Position;
      /** The position of the start, and that of the live version then. */
      readonly from: Position;
      readonly upTo: Position;
    }
  | { readonly step: 'indexes'; readonly done: number; readonly of: number };

/** The user has stopped it. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor() {
    super('It was stopped before its end.');
  }
}

type Range = { readonly after: Position; readonly upTo: Position };
type Part = { readonly prepared: Prepared; readonly last: Position; readonly count: number };

/** The events after one position up to another, which exists. Does not wait for future events. */
export async function* read(work: Omit<Work, 'onProgress'>, { after, upTo }: Range): AsyncGenerator<Part> {
  if (after >= upTo) return;
  const { eventLog, signal } = work;
  const following = {
    eventLog,
    signal,
    prepare: (events: Parameters<typeof prepare>[1]) => prepare(work, events),
  };
  for await (const { events, ready } of followAhead(following, after)) {
    const last = events.at(-1)?.position ?? after;
    if (signal.aborted) break;
    const prepared = joined(ready);
    if (last < upTo) {
      yield { prepared, last, count: events.length };
      continue;
    }
    const isIn = ({ position }: { readonly position: Position }) => position <= upTo;
    yield { prepared: partOf(prepared, isIn), last: upTo, count: events.filter(isIn).length };
    return;
  }
  throw new Stopped();
}

/** The live projector can wait for this many events. */
const FEW = 1_000;
/**
 * A projector that lags far behind moves on as fast as this does; after these passes it has to wait, however
 * long that takes.
 */
const PASSES_MAX = 100;

/**
 * Applies the events that the live version has and this one lacks, until few are left. Returns the position
 * reached.
 */
export const catchUp = async (work: Work, version: Held, from: Position): Promise<Position> => {
  let position = from;
  let events = 0;
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const upTo = (await readCheckpoint(work.pool, PROJECTOR))?.position ?? position;
    const before = events;
    for await (const part of read(work, { after: position, upTo })) {
      await applyPart(work, version, { ...part, from: position });
      position = part.last;
      events += part.count;
      work.onProgress({ step: 'events', events, position, from, upTo });
    }
    if (events - before <= FEW) break;
  }
  return position;
};

const applyPart = (
  { pool, tables }: Work,
  version: Held,
  { prepared, from, last }: Part & { from: Position },
): Promise<unknown> =>
  inTransaction(pool, async (connection) => {
    await moveCheckpoint(connection, version.follower, {
      log: version.log,
      epoch: version.epoch,
      from,
      to: last,
    });
    await useReadModel(connection, version.schema);
    await projectPrepared(connection, tables, prepared);
  });

/** The position of the live version, which limits that of any other. */
export const demandLive = async ({ pool, eventLog }: Mending): Promise<Position> => {
  const live = await readCheckpoint(pool, PROJECTOR);
  if (!live)
    throw new StartRefused(
      'The read model is empty: start Annals, or the projector, and let it apply the log.',
    );
  await demandCheckpoint(PROJECTOR, eventLog, live);
  return live.position;
};
