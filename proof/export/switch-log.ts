import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { isHeld } from '#shared/database/lease/lease.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

/** The positions of an event in two logs. */
export type Moved = { readonly id: EventId; readonly from: Position; readonly to: Position };

/**
 * Tables with positions of the log, beside messages and blocks; a test finds missing ones. `exact` if each is
 * the position of an event, `in the reason` if the stored reason contains it too, `dropped` if the row is rebuilt from
 * the log.
 */
export const POSITIONS: readonly Held[] = [
  {
    table: 'public.follower_checkpoint',
    columns: ['position', 'event_position', 'moved_position'],
    how: 'at or before',
  },
  { table: 'public.projection_skip', columns: ['position'], how: 'in the reason' },
  { table: 'event_index.event', columns: ['position'], how: 'exact' },
  { table: 'event_index.moment', columns: ['position'], how: 'exact' },
  { table: 'read_model.parked', columns: ['position'], how: 'in the reason' },
  { table: 'read_model_previous.parked', columns: ['position'], how: 'in the reason' },
  { table: 'read_model_next.parked', columns: ['position'], how: 'in the reason' },
  { table: 'webhook_ledger.delivery', columns: ['position'], how: 'exact' },
  {
    table: 'webhook_ledger.replay',
    columns: ['from_position', 'to_position', 'at_position'],
    how: 'at or before',
  },
  { table: 'webhook_ledger.quiet', columns: ['up_to_position'], how: 'at or before' },
  { table: 'webhook_ledger.planning', columns: ['after_position'], how: 'at or before' },
  { table: 'process_manager.reacting', columns: ['after_position'], how: 'at or before' },
  { table: 'process_manager.membership', columns: ['after_position'], how: 'at or before' },
  { table: 'process_manager.timer_mark', columns: ['position'], how: 'exact' },
  { table: 'process_manager.task', columns: ['cause_position'], how: 'at or before' },
  { table: 'process_manager.fan_out', columns: ['position'], how: 'exact' },
  { table: 'snapshots.state', columns: ['position'], how: 'dropped' },
  { table: 'snapshots.fold', columns: ['position'], how: 'dropped' },
  { table: 'audit.watch', columns: ['position'], how: 'at or before' },
  { table: 'audit.watch_difference', columns: ['position'], how: 'at or before' },
];
/** Tables that name the log to which their positions belong. */
export const IDENTITIES = ['public.follower_checkpoint', 'webhook_ledger.quiet', 'audit.watch'];

type Held = {
  readonly table: string;
  readonly columns: readonly string[];
  readonly how: 'exact' | 'in the reason' | 'at or before' | 'dropped';
};

/** Refuses while any part of Annals runs, because it would continue with the former log. */
export const demandStopped = async (
  database: Pick<Pool | Connection, 'query'>,
  { ownLease = '' } = {},
): Promise<void> => {
  if (!(await exists(database, 'public.lease'))) return;
  const { rows } = await database.query<{ name: string }>(
    `select name from public.lease where ${isHeld('lease')} and name <> $1 order by name`,
    [ownLease],
  );
  if (rows[0])
    throw new StartRefused(
      `Annals runs: ${rows.map(({ name }) => name).join(', ')} ${rows.length === 1 ? 'is' : 'are'} active. Stop all processes, wait ten seconds, and run the command again.`,
    );
};

/**
 * Replaces every position of one log in the database with that of the same event in a copy, in one
 * transaction. Afterwards the database belongs to the copy, and processes with the former log refuse to
 * start. Refuses if the database knows events that the log has lost: it would fit neither log.
 */
export const switchLog = (
  pool: Pool,
  { from, to }: { readonly from: LogIdentity; readonly to: LogIdentity },
  moved: AsyncIterable<readonly Moved[]>,
): Promise<void> =>
  inTransaction(pool, async (connection) => {
    await connection.query(
      'create temporary table moved (old bigint primary key, new bigint not null, id uuid not null) on commit drop',
    );
    for await (const some of moved) await insertMoved(connection, some);
    await connection.query('analyze moved');
    await demandStopped(connection);
    await demandKnown(connection);
    for (const held of POSITIONS) if (await exists(connection, held.table)) await move(connection, held);
    await moveMessages(connection);
    await moveBlocks(connection);
    await renameLog(connection, { from, to });
  });

/** Each follower names the event that it has processed last, unless an earlier release has moved it. */
const demandKnown = async (connection: Connection): Promise<void> => {
  if (!(await exists(connection, 'public.follower_checkpoint'))) return;
  const { rows } = await connection.query<{ follower: string; event: EventId; position: Position }>(
    `select follower, event, position from public.follower_checkpoint
     where event is not null and event_position = position
       and not exists (select from moved where moved.old = position and moved.id = event)
     order by follower`,
  );
  const [lost] = rows;
  if (lost === undefined) return;
  throw new StartRefused(
    `The ${lost.follower} has followed event ${lost.event} at position ${lost.position}, which the log does not have: ` +
      'restore the database to a moment before the log lost it (docs/runbooks.md, “The log went back”), and repeat the command.',
  );
};

/** Assigns the data of one log to another, with the same positions. */
export const renameLog = async (
  connection: Connection,
  { from, to }: { readonly from: LogIdentity; readonly to: LogIdentity },
): Promise<void> => {
  for (const table of IDENTITIES)
    if (await exists(connection, table))
      await connection.query(`update ${table} set log = $2 where log = $1`, [from, to]);
};

const insertMoved = async (connection: Connection, moved: readonly Moved[]): Promise<void> => {
  await connection.query(
    'insert into moved (old, new, id) select * from unnest($1::bigint[], $2::bigint[], $3::uuid[])',
    [moved.map(({ from }) => from), moved.map(({ to }) => to), moved.map(({ id }) => id)],
  );
};

const move = async (connection: Connection, { table, columns, how }: Held): Promise<void> => {
  if (how === 'dropped') return void (await connection.query(`truncate ${table}`));
  const reason = `, reason = regexp_replace(t.reason, '\\mat position ' || moved.old || '\\M', 'at position ' || moved.new)`;
  for (const column of columns)
    await connection.query(
      how === 'at or before'
        ? `update ${table} set ${column} = ${atOrBefore(column)} where ${column} is not null`
        : `update ${table} t set ${column} = moved.new${how === 'in the reason' ? reason : ''} from moved where moved.old = t.${column}`,
    );
};

/** Like the position of a follower, which may lag behind the last event. */
const atOrBefore = (column: string): string =>
  `coalesce((select new from moved where old <= ${column} order by old desc limit 1), 0)`;

/** The change is stored as text that starts with the position. */
const moveMessages = async (connection: Connection): Promise<void> => {
  if (!(await exists(connection, 'webhook_ledger.message'))) return;
  await connection.query(
    `update webhook_ledger.message t set position = moved.new,
       change = regexp_replace(change, '^\\{"position":\\d+', '{"position":' || moved.new)
     from moved where moved.old = t.position`,
  );
};

/**
 * Changes only positions, on which no hash depends. In two steps, because two blocks may not end at one
 * position in between.
 */
const moveBlocks = async (connection: Connection): Promise<void> => {
  if (!(await exists(connection, 'audit.block'))) return;
  await connection.query('alter table audit.block disable trigger append_only');
  await connection.query(
    `update audit.block t set first_position = first.new, last_position = -last.new
     from moved first, moved last where first.old = t.first_position and last.old = t.last_position`,
  );
  await connection.query('update audit.block set last_position = -last_position where last_position < 0');
  await connection.query('alter table audit.block enable trigger append_only');
};

const exists = async (database: Pick<Pool | Connection, 'query'>, table: string): Promise<boolean> => {
  const { rows } = await database.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
    table,
  ]);
  return rows[0]?.found === true;
};
