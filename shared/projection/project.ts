import type { StreamName } from '#kernel/base/brands.ts';
import type { Statement } from '#shared/database/pipeline.ts';
import type { Connection } from '#shared/database/pool.ts';
import { prepared } from '#shared/database/prepared.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import type { OfStreams, Tables } from '#shared/read-model/tables.ts';
import { applyEvents } from './apply-events.ts';
import { type Exceptions, exceptionsAmong, park } from './parked.ts';
import { type Prepared, type Projection, prepare } from './prepared.ts';
import { removalOf } from './removed.ts';
import { write } from './rows.ts';

/**
 * Applies events to the read model that comes first in the connection’s search path. Returns the aggregates
 * that had to be parked. However the log is cut into batches, the final read model is the same.
 */
export const project = async (
  connection: Connection,
  projection: Projection,
  events: readonly RecordedEvent[],
): Promise<readonly Parked[]> =>
  projectPrepared(connection, projection.tables, await prepare(projection, events));

/** The same, for events that were decoded in advance. */
export const projectPrepared = async (
  connection: Connection,
  tables: Tables,
  { own, decoded, damaged }: Prepared,
  exceptions?: Exceptions,
): Promise<readonly Parked[]> => {
  if (own.length === 0) return [];
  const { parked, isSkipped } =
    exceptions ?? (await exceptionsAmong(connection, new Set(own.map(({ stream }) => stream))));
  const damages = firstOfEach(damaged.filter((event) => !parked.has(event.stream) && !isSkipped(event)));
  // Includes the events before the damage, because the database may refuse one of those, and the first
  // refused event parks the stream.
  const whole = decoded.filter(
    (event) => !parked.has(event.stream) && !isSkipped(event) && isBefore(event, damages.get(event.stream)),
  );
  const erasures = erasuresOf(tables, { departures: decoded.filter(isDeparture), written: whole });
  const refused = await applyEvents(connection, tables, whole, erasures);
  await moveVersionsOn(connection, tables, own.filter(isSkipped));
  const parkings = [
    ...new Map([...damages, ...refused.map((each) => [each.stream, each] as const)]).values(),
  ];
  await park(connection, tables, parkings);
  return parkings;
};

/** A user’s deletion takes effect even if their own aggregate is parked. */
const isDeparture = ({ type }: { readonly type: string }): boolean => type === 'user.deleted';

const isBefore = ({ version }: DecodedEvent, damage: Parked | undefined): boolean =>
  damage === undefined || version < damage.version;

const firstOfEach = (damaged: readonly Parked[]): ReadonlyMap<StreamName, Parked> => {
  const first = new Map<StreamName, Parked>();
  for (const each of damaged) if (!first.has(each.stream)) first.set(each.stream, each);
  return first;
};

/** A skipped event still counts for the version, so that clients see the version to write against. */
const moveVersionsOn = async (
  connection: Connection,
  tables: Tables,
  skipped: readonly RecordedEvent[],
): Promise<void> => {
  const rows = skipped.flatMap(({ stream, version }) => {
    const row = tables.rowOf(stream);
    return row
      ? [{ table: row.table, change: { kind: 'patch' as const, row: { id: row.id, version } } }]
      : [];
  });
  for (const [table, some] of Map.groupBy(rows, (row) => row.table))
    await write(
      connection,
      table,
      some.map(({ change }) => change),
    );
};

type Texts = { readonly departures: readonly DecodedEvent[]; readonly written: readonly DecodedEvent[] };

/**
 * The statements that remove the content of deleted users, even if it is applied later, so that every replay
 * ends the same.
 */
const erasuresOf = (tables: Tables, { departures, written }: Texts): readonly Statement[] => {
  const statements: Statement[] = [];
  const gone = departures.flatMap(({ stream }) => tables.rowOf(stream)?.id ?? []);
  if (gone.length > 0)
    statements.push({
      text: 'insert into departed select distinct unnest($1::bigint[]) on conflict do nothing',
      values: [gone],
    });
  const idsOf = Map.groupBy(
    written.flatMap(({ stream }) => tables.rowOf(stream) ?? []),
    ({ table }) => table.kind,
  );
  for (const table of tables.ofStreams) {
    // The row of a user states its own deletion.
    if (table.person === null || table.person === 'id') continue;
    const { person } = table;
    if (gone.length > 0)
      statements.push({ text: goneFrom(table, (row) => `${row}.${person} = any($1)`), values: [gone] });
    const ids = [...new Set(idsOf.get(table.kind)?.map(({ id }) => id))];
    const isOfThem = (row: string) =>
      `${row}.${'key' in table ? table.key[0] : 'id'} = any($1) and d.user_id = ${row}.${person}`;
    if (ids.length > 0) statements.push(prepared(goneFrom(table, isOfThem, 'departed d'), [ids]));
  }
  return statements;
};

/** Removes the content of deleted users: the whole row, or its personal data. */
const goneFrom = (table: OfStreams, isOfThem: (row: string) => string, others = ''): string => {
  const { name, personal } = table;
  if (table.afterDeparture === 'removed')
    return removalOf(table, `delete from ${name} t ${others && `using ${others}`} where ${isOfThem('t')}`);
  const set = personal.map((column) => `${column} = null`).join(', ');
  const isThere = personal.map((column) => `${name}.${column} is not null`).join(' or ');
  return `update ${name} set ${set} ${others && `from ${others}`} where ${isOfThem(name)} and (${isThere})`;
};
