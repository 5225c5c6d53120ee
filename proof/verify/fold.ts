import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { Prepared } from '#shared/projection/prepared.ts';
import type { ProjectedTable, Tables } from '#shared/read-model/tables.ts';
import { weigh } from '#shared/weigh.ts';
import { foldingOf } from './deciders.ts';
import { addDeparted, loadStates, saveStates } from './fold-tables.ts';

/** The deciders’ state of each aggregate after all events so far, independent of the projection. */
export type Fold = {
  take(prepared: Prepared): Promise<void>;
  /** Folds these streams again from their given events. */
  retake(events: AsyncIterable<Prepared>, streams: ReadonlySet<StreamName>): Promise<void>;
  /** Writes all states to the tables. */
  save(): Promise<void>;
};

type Kept = {
  readonly table: ProjectedTable;
  readonly id: number;
  state: unknown;
  version: number;
  weight: number;
  isSaved: boolean;
};

type Options = {
  readonly pool: Pool;
  readonly tables: Tables;
  readonly schema: string;
  /** Events that an operator has skipped in every projection; their versions count. */
  readonly isSkipped: (event: { readonly stream: StreamName; readonly version: Version }) => boolean;
  /** The maximum weight of states in memory; one unit is about a byte. */
  readonly weightMax?: number;
};

const WEIGHT_MAX = 8 * 1_048_576;
/** The share that is evicted at once, so that few statements write many states. */
const LET_GO = 0.3;

/**
 * Keeps recently used states in memory, and the others in tables: evicts the least recently changed ones in
 * batches, and loads all that a page of events needs at once.
 */
export const createFold = ({ pool, tables, schema, isSkipped, weightMax = WEIGHT_MAX }: Options): Fold => {
  const held = new Map<StreamName, Kept>();
  let weight = 0;

  const load = async (events: readonly RecordedEvent[]): Promise<void> => {
    const missing = new Map<StreamName, { table: ProjectedTable; id: number }>();
    for (const { stream, version } of events) {
      const row = tables.rowOf(stream);
      // A first event needs no state; most streams start this way while the log is read.
      if (row && version > 1 && !held.has(stream)) missing.set(stream, row);
    }
    for (const { stream, version } of events) if (version === 1) missing.delete(stream);
    for (const { table, id, stream, version, state } of await loadStates(pool, schema, missing)) {
      hold(stream, { table, id, state, version, weight: weigh(state), isSaved: true });
    }
  };

  const hold = (stream: StreamName, kept: Kept): void => {
    weight += kept.weight - (held.get(stream)?.weight ?? 0);
    held.delete(stream);
    held.set(stream, kept);
  };

  const evolve = ({ stream, version }: RecordedEvent, decoded: DecodedEvent | undefined): void => {
    const row = tables.rowOf(stream);
    if (!row) return;
    const { initial, evolve: next } = foldingOf(row.table);
    const before = held.get(stream)?.state ?? initial;
    const state = decoded ? next(before, decoded) : before;
    hold(stream, { ...row, state, version, weight: weigh(state), isSaved: false });
  };

  const takeHeld = ({ own, decoded }: Prepared): void => {
    let at = 0;
    for (const event of own) {
      const candidate = decoded[at];
      const isDecoded = candidate?.id === event.id && candidate.position === event.position;
      if (isDecoded) at += 1;
      evolve(event, isDecoded && !isSkipped(event) ? candidate : undefined);
    }
  };

  const save = async (which: readonly [StreamName, Kept][]): Promise<void> => {
    const unsaved = which.map(([, kept]) => kept).filter(({ isSaved }) => !isSaved);
    await saveStates(pool, schema, unsaved);
    for (const kept of unsaved) kept.isSaved = true;
  };

  const letGo = async (): Promise<void> => {
    const leaving: [StreamName, Kept][] = [];
    let leavingWeight = 0;
    for (const entry of held) {
      if (leavingWeight >= weightMax * LET_GO) break;
      leaving.push(entry);
      leavingWeight += entry[1].weight;
    }
    await save(leaving);
    for (const [stream] of leaving) held.delete(stream);
    weight -= leavingWeight;
  };

  return {
    async take(prepared) {
      await load(prepared.own);
      takeHeld(prepared);
      await addDeparted(pool, schema, departuresIn(tables, prepared));
      while (weight > weightMax) await letGo();
    },
    async retake(pages, streams) {
      for (const stream of streams) {
        weight -= held.get(stream)?.weight ?? 0;
        held.delete(stream);
      }
      for await (const page of pages) {
        takeHeld(page);
        await addDeparted(pool, schema, departuresIn(tables, page));
      }
    },
    save: () => save([...held]),
  };
};

/** A deletion of a user counts, whatever the state of the aggregate. */
const departuresIn = (tables: Tables, { decoded }: Prepared): readonly number[] =>
  decoded.flatMap(({ type, stream }) => (type === 'user.deleted' ? (tables.rowOf(stream)?.id ?? []) : []));
