// Over 200 lines, because it is one comparison: the row of a stream with the deciders’ state, with all
// exclusions and their reasons.
import { isDeepStrictEqual } from 'node:util';
import type { Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Table } from '#kernel/rows/change.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { isDeletionRecorded } from '#shared/erasure/deletion.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { decodeAround } from '#shared/projection/decode.ts';
import type { Projection } from '#shared/projection/prepared.ts';
import { fieldOf, type ProjectedItems, type ProjectedTable } from '#shared/read-model/tables.ts';
import type { ProjectedShares } from '#shared/read-model/view-tables.ts';
import type { Difference } from '../stored/watch.ts';
import { foldingOf } from '../verify/deciders.ts';
import { type Expected, expectedItems, expectedRow, expectedShares } from '../verify/expected-row.ts';

type RowDependencies = Projection & {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** If the projector lags longer than these attempts, the next round compares the row. */
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 200;

/** Compares the row of a stream with the deciders’ state of its events. Returns the fields that differ. */
export const checkRow = async (
  dependencies: RowDependencies,
  stream: StreamName,
): Promise<readonly Difference[]> => {
  const target = dependencies.tables.rowOf(stream);
  if (!target) return [];
  let found: readonly Difference[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && !dependencies.signal.aborted; attempt += 1) {
    const { isParked, skipped } = await readExceptions(dependencies.pool, stream);
    if (isParked) return [];
    const folded = await fold(dependencies, target.table, { stream, skipped });
    const seen = await readRow(dependencies.pool, target, { stream, owners: folded.owners });
    const outcome = seen && compare(folded, { table: target.table, skipped, seen });
    // A difference that is seen twice was not caused by a change in between.
    if (outcome?.length === 0 || (outcome && isDeepStrictEqual(outcome, found))) return outcome;
    found = outcome ?? [];
    await dependencies.clock.sleep(ATTEMPT_PAUSE_MS, dependencies.signal);
  }
  return [];
};

type Folded = {
  readonly state: unknown;
  readonly last: RecordedEvent | undefined;
  readonly isDamaged: boolean;
  readonly owners: readonly number[];
};

type Source = { readonly stream: StreamName; readonly skipped: readonly Version[] };

/** The deciders’ state of a stream, folded page by page, because it may be long. */
const fold = async (
  { eventLog, codec }: RowDependencies,
  table: ProjectedTable,
  { stream, skipped }: Source,
): Promise<Folded> => {
  const { initial, evolve } = foldingOf(table);
  const owners = new Set<unknown>();
  let state = initial;
  let last: RecordedEvent | undefined;
  let isDamaged = false;
  for await (const events of eventLog.read(stream)) {
    const { person = null } = [table, ...table.items].find((each) => each.person !== null) ?? {};
    if (person !== null && person !== 'id') for (const { data } of events) owners.add(data[fieldOf(person)]);
    const { decoded, damaged } = await decodeAround(codec, events);
    isDamaged ||= damaged.some(({ version }) => !skipped.includes(version));
    if (!isDamaged) state = decoded.filter(({ version }) => !skipped.includes(version)).reduce(evolve, state);
    last = events.at(-1) ?? last;
  }
  return {
    state,
    last,
    isDamaged,
    owners: [...owners].filter((owner) => Number.isSafeInteger(owner)) as number[],
  };
};

const SKIPPED = 'array(select version from public.projection_skip where stream = k.stream order by version)';

const IS_PARKED = `exists (select from ${LIVE_SCHEMA}.parked where stream = k.stream)`;

type Exceptions = Pick<Seen, 'isParked' | 'skipped'>;

const readExceptions = async (pool: Pool, stream: StreamName): Promise<Exceptions> =>
  (await exceptionsIn(pool)(stream)) ?? { isParked: false, skipped: [] };

/** Of all streams that are compared at the same time. */
const exceptionsIn = oncePer((pool: Pool) =>
  coalesce<StreamName, Exceptions>(async (streams) => {
    const { rows } = await pool.query<Exceptions & { stream: StreamName }>(
      `select k.stream, ${IS_PARKED} as "isParked", ${SKIPPED} as "skipped" from unnest($1::text[]) as k (stream)`,
      [streams],
    );
    return new Map(rows.map((row) => [row.stream, row]));
  }),
);

type Seen = {
  readonly row: Readonly<Record<string, unknown>> | null;
  /** Items, and contributions to views, by table, each in the order of its key. */
  readonly items: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[] | null>>;
  /** The position of the read model at the same time. */
  readonly position: Position;
  readonly isParked: boolean;
  readonly skipped: readonly Version[];
  readonly departed: readonly number[];
};

type Asked = { readonly stream: StreamName; readonly id: number; readonly owners: readonly number[] };

const readRow = (
  pool: Pool,
  { table, id }: { readonly table: ProjectedTable; readonly id: number },
  source: Omit<Asked, 'id'>,
): Promise<Seen | undefined> => {
  const read = rowsIn(pool).get(table) ?? rowsOf(pool, table);
  rowsIn(pool).set(table, read);
  return read({ ...source, id });
};

const rowsIn = oncePer(
  (_pool: Pool) => new Map<ProjectedTable, (asked: Asked) => Promise<Seen | undefined>>(),
);

/**
 * The rows that are compared at the same time, in one statement. Numbers in the log are safe integers, so JSON
 * preserves them.
 */
const rowsOf = (pool: Pool, table: ProjectedTable) =>
  coalesce<Asked, Seen>(async (asked) => {
    const { rows } = await pool.query<Seen>({
      name: `audit-watch-${table.name}`,
      text: `select (select row_to_json(t) from ${LIVE_SCHEMA}.${table.name} t where id = k.id) as row,
       json_build_object(${[...table.items.map(itemsSql), ...table.shares.map(shareSql)].join(', ')}) as items,
       (select position from public.follower_checkpoint where follower = '${PROJECTOR}') as position,
       ${IS_PARKED} as "isParked",
       ${SKIPPED} as "skipped",
       array(select user_id from ${LIVE_SCHEMA}.departed where user_id = any($3)) as departed
     from unnest($1::text[], $2::bigint[]) with ordinality as k (stream, id, number) order by number`,
      values: [
        asked.map(({ stream }) => stream),
        asked.map(({ id }) => id),
        asked.flatMap(({ owners }) => owners),
      ],
    });
    return new Map(rows.map((row, index) => [asked[index] as Asked, row]));
  });

const itemsSql = ({ name, key: [of, id] }: ProjectedItems): string =>
  `'${name}', (select json_agg(row_to_json(i) order by i.${id}) from ${LIVE_SCHEMA}.${name} i where i.${of} = k.id)`;

const shareSql = ({ name }: ProjectedShares): string =>
  `'${name}', (select json_agg(row_to_json(s)) from ${LIVE_SCHEMA}.${name} s where s.id = k.id)`;

type Looked = { readonly table: ProjectedTable; readonly skipped: readonly Version[]; readonly seen: Seen };

/** Undefined if the row cannot be compared now, because the read model lacks events or has more. */
const compare = (
  { state, last, isDamaged }: Folded,
  { table, skipped, seen }: Looked,
): readonly Difference[] | undefined => {
  if (!last || seen.isParked) return [];
  if ((seen.position ?? START) < last.position || Number(seen.row?.version ?? 0) > last.version)
    return undefined;
  // Other events were skipped when it was folded.
  if (!isDeepStrictEqual(skipped, seen.skipped)) return undefined;
  // The damaged event itself is reported elsewhere.
  if (isDamaged) return [];
  const isDeparted = (userId: number) => seen.departed.includes(userId);
  const expected = expectedRow(table, state, isDeparted);
  const items = expectedItems(table, state, isDeparted);
  const shares = expectedShares(table, state);
  const fields = [
    ...differing(expected && { ...expected, version: last.version }, seen.row && comparable(table, seen.row)),
    ...table.items.flatMap((each) =>
      differingItems(each, items[each.name] ?? [], seen.items[each.name] ?? []),
    ),
    ...table.shares.flatMap((each) =>
      differingShare(each, shares[each.name]?.[0], seen.items[each.name]?.[0] ?? null),
    ),
  ];
  const { stream, version, position } = last;
  return fields.length === 0 ? [] : [{ kind: 'row_different', stream, version, position, fields }];
};

/** Converts a row to the format of the expectation: timestamps as in events. */
const comparable = (
  { columns }: Table,
  row: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const moments = Object.keys(columns).filter(
    (name) => columns[name] === 'timestamptz' && typeof row[name] === 'string',
  );
  const named = Object.fromEntries(moments.map((name) => [name, new Date(String(row[name])).toISOString()]));
  return { ...row, ...named, ...('deleted_at' in row && { is_deleted: row.deleted_at !== null }) };
};

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Differences of a list: its name if the number of items differs, else names of fields. */
const differingItems = (table: ProjectedItems, expected: Rows, found: Rows): readonly string[] => {
  const { list, key } = table;
  const sorted = expected.toSorted((one, other) => compareIds(one[key[1]], other[key[1]]));
  if (sorted.length !== found.length) return [list.name];
  return [
    ...new Set(
      sorted.flatMap((row, index) =>
        differing(row, comparable(table, found[index] ?? {})).map((field) => `${list.name}.${field}`),
      ),
    ),
  ];
};

/** Differences of a contribution, prefixed with the name of the view. */
const differingShare = (table: ProjectedShares, expected: Expected, found: Seen['row']): readonly string[] =>
  differing(expected, found && comparable(table, found)).map((field) => `${table.view.name}.${field}`);

/** Sorts like PostgreSQL: numbers by value, and texts by the collation "C". */
const compareIds = (one: unknown, other: unknown): number =>
  typeof one === 'number' && typeof other === 'number'
    ? one - other
    : Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));

const differing = (
  expected: Readonly<Record<string, unknown>> | undefined,
  row: Readonly<Record<string, unknown>> | null,
): readonly string[] => {
  if (!expected || !row) return expected || row ? ['id'] : [];
  return Object.keys(expected).filter((field) => !isDeepStrictEqual(expected[field], row[field]));
};

/**
 * Compares the row of a stream with its events, except for a user who is being erased: until the projector
 * reaches the deletion, personal data may or may not remain on either side.
 */
export const checkRowUnlessLeaving = async (
  dependencies: RowDependencies,
  stream: StreamName,
): Promise<readonly Difference[]> => {
  const found = await checkRow(dependencies, stream);
  if (found.length === 0) return found;
  const person = await personOf(dependencies, stream);
  const erased = person !== undefined && (await readErased(dependencies, person));
  if (!erased) return found;
  // The projector reached the deletion after the row was read.
  return erased.isDeparted ? checkRow(dependencies, stream) : [];
};

const personOf = async (
  { eventLog, tables }: RowDependencies,
  stream: StreamName,
): Promise<UserId | undefined> => {
  const row = tables.rowOf(stream);
  const { person } =
    row === undefined ? {} : ([row.table, ...row.table.items].find((each) => each.person !== null) ?? {});
  if (row === undefined || !person) return undefined;
  if (person === 'id') return row.id as UserId;
  for await (const [first] of eventLog.read(stream))
    return first?.data[fieldOf(person)] as UserId | undefined;
  return undefined;
};

/** Undefined if the key exists, or was destroyed without a recorded deletion. */
const readErased = async (
  { pool, eventLog }: RowDependencies,
  person: UserId,
): Promise<{ readonly isDeparted: boolean } | undefined> => {
  const { rows } = await pool.query<{ isDeparted: boolean }>(
    `select exists (select from ${LIVE_SCHEMA}.departed where user_id = $1) as "isDeparted"
     from public.person_key where subject = $1 and destroyed_at is not null`,
    [person],
  );
  return rows[0] && (await isDeletionRecorded(eventLog, person)) ? rows[0] : undefined;
};
