import { isDeepStrictEqual } from 'node:util';
import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import { evolveOf } from '#kernel/decide/evolve.ts';
import { foldDefinitionOf } from '#kernel/decide/fold-definition.ts';
import { ABSENT } from '#kernel/decide/state.ts';
import { watchesOf } from '#kernel/visibility/watches.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { noRow, rowAfter, rowFoldOf, storedRow } from '#shared/read-model/row-fold.ts';
import type { ProjectedTable } from '#shared/read-model/tables.ts';
import { FOLDS, type Fold, migrateSnapshots } from '#shared/snapshots/snapshots.ts';
import { isDamage } from '#shared/visibility/damage.ts';
import { createRightsFold, rightsFoldOf } from '#shared/visibility/history.ts';
import type { Proving } from './proving.ts';

/**
 * Compares each snapshot with a fold from the first event, because commands and time travel use them.
 * Snapshots that cannot be decrypted are skipped: nobody uses them.
 */
export const checkSnapshots = async (proving: Proving): Promise<void> => {
  const { pool, tables, signal } = proving.verification;
  await migrateSnapshots(pool);
  const { rows } = await pool.query<{ stream: StreamName }>(
    'select distinct stream from snapshots.fold order by stream',
  );
  for (const { stream } of rows) {
    const table = tables.rowOf(stream)?.table;
    for (const fold of FOLDS) {
      signal.throwIfAborted();
      const folding = table && foldings[fold](proving, table);
      if (folding) await checkStream(proving, stream, folding);
    }
  }
};

/** A fold whose states are stored as snapshots. */
type Folding = {
  readonly fold: Fold;
  take(event: DecodedEvent, recorded: RecordedEvent): void;
  state(recorded: RecordedEvent): unknown;
};
type CreateFolding = (proving: Proving, table: ProjectedTable) => Folding | undefined;

const foldings: Readonly<Record<Fold['fold'], CreateFolding>> = {
  state(_, { aggregate }) {
    const evolve = evolveOf(aggregate);
    let state = ABSENT;
    return {
      fold: { fold: 'state', definition: foldDefinitionOf(aggregate) },
      take: (event) => {
        state = evolve(state, event);
      },
      state: () => state,
    };
  },
  row(_, table) {
    let fold = noRow(table);
    return {
      fold: rowFoldOf(table),
      take: (event) => {
        fold = rowAfter(table, fold, event);
      },
      state: () => storedRow(fold),
    };
  },
  rights({ verification: { domain } }, { aggregate }) {
    const watch = watchesOf(domain).get(aggregate.name);
    if (watch === undefined) return undefined;
    const { take, stateAfter } = createRightsFold(watch, catalogueOf(domain));
    return { fold: rightsFoldOf(watch), take: (_event, recorded) => take(recorded), state: stateAfter };
  },
};

/**
 * Stops at an event that differs, as after the log went back, or is damaged, which is reported separately.
 */
const checkStream = async (
  proving: Proving,
  stream: StreamName,
  { fold, take, state }: Folding,
): Promise<void> => {
  const { eventLog, codec, pause } = proving.verification;
  const kept = await keptOf(proving, stream, fold);
  const last = [...kept.keys()].reduce((one, other) => (other > one ? other : one), START);
  let beganMs = performance.now();
  if (kept.size > 0)
    for await (const page of eventLog.read(stream)) {
      const before = page.filter(({ position }) => position <= last);
      const decoded = await codec.decodeAll(before).catch(unlessDamaged);
      if (decoded === undefined) return;
      for (const [index, event] of decoded.entries()) {
        const recorded = before[index] as RecordedEvent;
        take(event, recorded);
        const id = kept.get(recorded.position);
        if (id !== undefined && id !== recorded.id) return;
        if (id !== undefined) await compare(proving, { ...fold, stream, recorded }, state(recorded));
      }
      await pause?.(performance.now() - beganMs);
      beganMs = performance.now();
      if (before.length < page.length) return;
    }
};

const keptOf = async (
  { verification: { pool }, passage }: Proving,
  stream: StreamName,
  { fold, definition }: Fold,
) => {
  const { rows } = await pool.query<{ position: Position; event: EventId }>(
    'select position, event_id as event from snapshots.fold where stream = $1 and fold = $2 and definition = $3 and position <= $4',
    [stream, fold, definition, passage.position()],
  );
  return new Map(rows.map(({ position, event }) => [position, event]));
};

type Compared = Fold & { readonly stream: StreamName; readonly recorded: RecordedEvent };

const compare = async (
  { verification: { snapshots }, findings }: Proving,
  { stream, recorded: { version, position, id }, ...fold }: Compared,
  state: unknown,
): Promise<void> => {
  const isKept = async () => {
    const snapshot = await snapshots.find(stream, fold, position);
    return snapshot?.event === id ? snapshot : undefined;
  };
  const snapshot = await isKept();
  if (snapshot === undefined || isDeepStrictEqual(JSON.parse(JSON.stringify(state)), snapshot.state)) return;
  // The snapshot may have been deleted by an erasure meanwhile.
  if (await isKept()) findings.add({ kind: 'snapshot_different', stream, version, position });
};

const unlessDamaged = (error: unknown): undefined => {
  if (!isDamage(error)) throw error;
  return undefined;
};
