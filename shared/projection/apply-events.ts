import type { StreamName } from '#kernel/base/brands.ts';
import { isShared, type Statement, sendLast, sendPipelined } from '#shared/database/pipeline.ts';
import type { Connection } from '#shared/database/pool.ts';
import { collect, type Sender } from '#shared/database/prepared.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import { whenAsked } from '#shared/when-asked.ts';
import { isRefusalOfValues, unwritable } from './refused.ts';
import { type Following, write } from './rows.ts';

/**
 * Writes all events at once, with their consequences; after a refusal of the database, bisects them down to
 * the refused events. Returns those.
 */
export const applyEvents = async (
  connection: Connection,
  tables: Tables,
  events: readonly DecodedEvent[],
  following: readonly Statement[] = [],
): Promise<readonly Parked[]> => {
  if (events.length > 0 && !(await attempt(connection, tables, events, following))) return [];
  const refused = await applyHalves(connection, tables, events);
  await sendPipelined(connection, following);
  return refused;
};

const applyHalves = async (
  connection: Connection,
  tables: Tables,
  events: readonly DecodedEvent[],
): Promise<readonly Parked[]> => {
  const streams = [...new Set(events.map(({ stream }) => stream))];
  if (streams.length <= 1) return applyOneByOne(connection, tables, events);
  const some = new Set<StreamName>(streams.slice(0, Math.ceil(streams.length / 2)));
  const first = events.filter(({ stream }) => some.has(stream));
  const second = events.filter(({ stream }) => !some.has(stream));
  return [
    ...(await applyEvents(connection, tables, first)),
    ...(await applyEvents(connection, tables, second)),
  ];
};

/** Events of one stream, up to the first refused one. */
const applyOneByOne = async (
  connection: Connection,
  tables: Tables,
  events: readonly DecodedEvent[],
): Promise<readonly Parked[]> => {
  for (const event of events) {
    const refusal = await attempt(connection, tables, [event]);
    if (refusal) return [unwritable(event, refusal)];
  }
  return [];
};

/** Returns the database’s refusal of values in the events; none of them is written then. */
const attempt = async (
  connection: Connection,
  tables: Tables,
  events: readonly DecodedEvent[],
  following: readonly Statement[] = [],
) => {
  const writes = await collect((sender) => writeAll(sender, tables, events));
  if (isShared(connection)) {
    await sendLast(connection, [...writes, ...following]);
    return undefined;
  }
  try {
    await sendPipelined(connection, [{ text: 'savepoint applying' }, ...writes, ...following]);
    return undefined;
  } catch (error) {
    if (!isRefusalOfValues(error)) throw error;
    await connection.query('rollback to savepoint applying');
    return error;
  }
};

const writeAll = async (sender: Sender, tables: Tables, events: readonly DecodedEvent[]): Promise<void> => {
  const byTable = Map.groupBy(events, ({ stream }) => tables.rowOf(stream)?.table);
  // In one order, so that concurrent writers never deadlock.
  for (const table of tables.all) {
    const own = byTable.get(table);
    if (own === undefined) continue;
    await write(sender, table, own.map(table.project), async (made) => {
      const following: Following[] = [];
      for (const list of table.items) {
        const changes = own.flatMap((event) => list.changes(event) ?? []);
        const { writeItems } = await writingOfItems();
        const ids = await writeItems(sender, list, changes, made);
        if (list.derived.length > 0) following.push({ ids, list });
      }
      return following;
    });
    for (const shares of table.shares) {
      const { writeShares } = await writingOfShares();
      await writeShares(
        sender,
        shares,
        own.flatMap((event) => shares.changes(event) ?? []),
      );
    }
  }
};

/** Loaded for domains with lists. */
const writingOfItems = whenAsked(() => import('./items.ts'));
/** Loaded for domains with views. */
const writingOfShares = whenAsked(() => import('./shares.ts'));
