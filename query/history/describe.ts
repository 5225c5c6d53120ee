// Over 200 lines, because it is one thing: the differences of a page of events, for which former values are
// looked up.

import type { Position, UserId } from '#kernel/base/brands.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { column, wire } from '#kernel/base/names.ts';
import type { ItemChange } from '#kernel/rows/change.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { type DecodedEvent, subjectOf } from '#shared/events/codec.ts';
import { eraseFields } from '#shared/events/personal.ts';
import type { RowFold } from '#shared/read-model/row-fold.ts';
import type { ProjectedItems, ProjectedTable } from '#shared/read-model/tables.ts';
import { decodeEach } from '../time-travel/decode-each.ts';
import type { FoldOptions } from '../time-travel/fold-stream.ts';
import { type ShownColumns, valuesIn } from './fields.ts';
import { readVersions, type StreamSource } from './versions.ts';

/** The change of one column of a row by an event. */
type Touched = { readonly column: string; readonly from: unknown; readonly to: unknown };

export type Described = {
  readonly change: Change;
  readonly touched: readonly Touched[];
  readonly isReadable: boolean;
  readonly isErased: boolean;
  readonly data: JsonObject;
};

type Describing = {
  readonly catalogue: Catalogue;
  readonly table: ProjectedTable;
  readonly shown: ShownColumns;
  readonly source: StreamSource;
  readonly codec: FoldOptions['codec'];
  /** Versions that an operator skipped; they changed nothing. */
  readonly skipped: ReadonlySet<number>;
  /** Which of these users are deleted. Their personal data is shown to nobody. */
  departedAmong(userIds: readonly UserId[]): Promise<ReadonlySet<UserId>>;
  /** Folds the events up to a position; `isParked` if one of them is a poison event. */
  foldUpTo(position: Position): Promise<{ readonly fold: RowFold; readonly isParked: boolean }>;
};

type Effect = {
  readonly isWhole: boolean;
  readonly values: ReadonlyMap<string, unknown>;
  /** The columns of items that did not exist before. */
  readonly added: readonly string[];
  readonly isErased: boolean;
  readonly data: JsonObject;
};

/**
 * Describes what each of these changes of one stream did. It reads only what is needed, and holds one page at
 * a time.
 */
export async function* describe(
  describing: Describing,
  changes: readonly Change[],
): AsyncGenerator<Described> {
  const [first, last] = [changes.at(0), changes.at(-1)];
  if (!first || !last) return;
  const byVersion = new Map<number, Change>(changes.map((change) => [change.version, change]));
  const before = new RowBefore(describing, first.version);
  for await (const events of readVersions(describing.source, first.version, last.version)) {
    const effects = await effectsOf(describing, events);
    for (const [index, { version }] of events.entries()) {
      const effect = effects[index];
      const change = byVersion.get(version);
      if (change) {
        await before.find(effect);
        yield { change, ...touchedBy(effect, before.values), data: effect?.data ?? {} };
      }
      before.take(effect);
    }
  }
}

const touchedBy = (
  effect: Effect | undefined,
  row: ReadonlyMap<string, unknown>,
): Omit<Described, 'change' | 'data'> => {
  if (effect === undefined) return { touched: [], isReadable: false, isErased: false };
  const all = [...effect.values].map(([column, to]) => ({
    column,
    from: row.get(column) ?? null,
    to: to ?? null,
  }));
  const touched = all.filter(({ from, to }) => effect.isWhole || JSON.stringify(from) !== JSON.stringify(to));
  return { touched, isReadable: true, isErased: effect.isErased };
};

/** Undefined for a poison event. */
const effectsOf = async (
  { catalogue, table, shown, codec, skipped, departedAmong }: Describing,
  events: Parameters<typeof decodeEach>[1],
): Promise<readonly (Effect | undefined)[]> => {
  const decoded = await decodeEach(codec, events);
  const subjects = events.map(subjectOf);
  const departed = await departedAmong([...new Set(subjects.flatMap((subject) => subject ?? []))]);
  return decoded.map((event, index) => {
    const subject = subjects[index] ?? null;
    const isDeparted = subject !== null && departed.has(subject);
    const definition = event && catalogue.find(event.type);
    return (
      definition &&
      effectOf({ table, shown, definition }, event, { isSkipped: skipped.has(event.version), isDeparted })
    );
  });
};

type Meant = Pick<Describing, 'table' | 'shown'> & { readonly definition: EventDefinition };
type Fate = { readonly isSkipped: boolean; readonly isDeparted: boolean };

const effectOf = (
  { table, shown, definition }: Meant,
  event: DecodedEvent,
  { isSkipped, isDeparted }: Fate,
): Effect => {
  const recorded = event.data as JsonObject;
  const data = isDeparted && definition.personal ? eraseFields(definition, recorded) : recorded;
  const known = { ...event, data } as DecodedEvent;
  const { kind: what, row } = table.project(known);
  const own = isSkipped || what === 'drop' ? new Map<string, unknown>() : valuesIn(shown, row);
  const changed = isSkipped ? [] : table.items.map((items) => ({ items, change: items.changes(known) }));
  const ofItems = changed.flatMap(({ items, change }) => itemValues(items, change));
  const added = changed.flatMap(({ items, change }) =>
    change?.kind === 'put' ? itemValues(items, change).map(([name]) => name) : [],
  );
  const values = ofItems.length === 0 ? own : new Map([...own, ...ofItems]);
  // Erased fields are null, even if the original event could not have had null.
  const isErased = definition.personal !== null && !definition.schema.safeParse(data).success;
  return { isWhole: what === 'put', values, added, isErased, data };
};

/**
 * The values of an item, named by the list and its key: `items.3.amount`. All are undefined for a removed
 * item.
 */
const itemValues = (
  { list, key }: ProjectedItems,
  change: ItemChange | undefined,
): readonly (readonly [string, unknown])[] => {
  if (change === undefined || change.kind === 'clear') return [];
  const row: Readonly<Record<string, unknown>> = change.row;
  return Object.entries(list.fields).flatMap(([name, def]) => {
    const from = column(name, def);
    if (change.kind !== 'drop' && !(from in row)) return [];
    return [[`${list.name}.${String(row[key[1]])}.${wire(name, def)}`, row[from] ?? null] as const];
  });
};

const LOOKED_BACK_AT_ONCE = 200;

/**
 * The columns before each event. The sources, in order: later events of the page, events shortly before it, a
 * fold of the whole stream.
 */
class RowBefore {
  readonly values = new Map<string, unknown>();
  readonly #describing: Describing;
  #below: number;

  constructor(describing: Describing, version: number) {
    this.#describing = describing;
    this.#below = version;
  }

  take(effect: Effect | undefined): void {
    for (const [column, value] of effect?.values ?? []) this.values.set(column, value);
  }

  async find(effect: Effect | undefined): Promise<void> {
    if (effect === undefined || effect.isWhole) return;
    for (const column of effect.added) this.values.set(column, null);
    const isMissing = () => [...effect.values.keys()].some((column) => !this.values.has(column));
    for (let isFirst = true; this.#below > 1 && isMissing(); isFirst = false) {
      const first = await this.#lookBack();
      if (isFirst && first !== undefined && isMissing())
        await this.#takeRow((first.position - 1) as Position);
    }
  }

  /**
   * Reads the events before those known, for the values that they set; the event that creates the row sets
   * all. Returns the first event read.
   */
  async #lookBack(): Promise<RecordedEvent | undefined> {
    const from = Math.max(1, this.#below - LOOKED_BACK_AT_ONCE);
    const said = new Map<string, unknown>();
    let first: RecordedEvent | undefined;
    for await (const events of readVersions(this.#describing.source, from, this.#below - 1)) {
      first ??= events[0];
      for (const each of await effectsOf(this.#describing, events))
        for (const [column, value] of each?.values ?? []) said.set(column, value);
    }
    this.#note(said);
    this.#below = from;
    return first;
  }

  /**
   * Takes all earlier values from a fold. If the stream has a poison event, only looking back finds the
   * others.
   */
  async #takeRow(upTo: Position): Promise<void> {
    if (this.#below === 1) return;
    const { fold, isParked } = await this.#describing.foldUpTo(upTo);
    if (isParked) return;
    this.#note(await valuesOfRow(this.#describing, fold));
    this.#below = 1;
  }

  #note(values: ReadonlyMap<string, unknown>): void {
    for (const [column, value] of values) if (!this.values.has(column)) this.values.set(column, value);
  }
}

const valuesOfRow = async (
  { table, shown, departedAmong }: Describing,
  { change, items }: RowFold,
): Promise<ReadonlyMap<string, unknown>> => {
  if (change?.kind !== 'put') return new Map();
  const person = table.person === null ? undefined : (change.row[table.person as 'id'] as UserId | null);
  const isDeparted = typeof person === 'number' && (await departedAmong([person])).has(person);
  const shownRow = <Row extends object>({ personal }: Pick<ProjectedTable, 'personal'>, row: Row): Row =>
    isDeparted ? { ...row, ...Object.fromEntries(personal.map((column) => [column, null])) } : row;
  const ofItems = [...items].flatMap(([of, all]) =>
    [...all.values()].flatMap((item) =>
      itemValues(of, { ...item, row: shownRow(of, item.row) } as ItemChange),
    ),
  );
  return new Map([...valuesIn(shown, shownRow(table, change.row)), ...ofItems]);
};
