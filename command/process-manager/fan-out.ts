import type { EventId, Position, StreamName } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Cause } from './steps.ts';
import { addTasks, type ReactionTask } from './tasks.ts';

/** The number of referring aggregates that are recorded in one transaction. */
const PAGE = 1_000;

/** An event to which aggregates react through a reference. */
export type Happened = {
  readonly parent: StreamName;
  readonly type: string;
  readonly position: Position;
  readonly references: readonly string[];
  readonly cause: Cause;
  /** After this event no aggregate can start to refer to its aggregate. */
  readonly isEnd: boolean;
};

/** Events of the log to record, or an event before which a page of referring aggregates is recorded. */
export type ReactionPage = { readonly events: readonly RecordedEvent[] } | { readonly before: Happened };
type Followed = { readonly page: ReactionPage; readonly upTo: Position; readonly event: EventId | undefined };

type Paging = {
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'follow'>;
  /** The event as seen by referring aggregates; undefined if none reacts to it, or if it is damaged. */
  happened(event: RecordedEvent): Happened | undefined;
};

type From = { readonly after: Position; readonly signal: AbortSignal; readonly event: EventId | undefined };

/**
 * The pages of the log. An event with very many referring aggregates starts a page of its own after they are
 * recorded; until then the checkpoint stays before it.
 */
export async function* pagesOf(
  { pool, eventLog, happened }: Paging,
  { after, signal, event }: From,
): AsyncGenerator<Followed> {
  let checkpoint: Omit<Followed, 'page'> = { upTo: after, event };
  for await (const events of eventLog.follow(after, signal, event)) {
    let begun = 0;
    const upTo = (end: number): Followed => {
      const page = { events: events.slice(begun, end) };
      const last = page.events.at(-1);
      if (last !== undefined) checkpoint = { upTo: last.position, event: last.id };
      begun = end;
      return { page, ...checkpoint };
    };
    const all = events.map(happened);
    const crowded = await crowdedOf(
      pool,
      all.filter((each) => each !== undefined),
    );
    for (const [index, before] of all.entries()) {
      if (before === undefined || !crowded.has(before.position)) continue;
      if (index > begun) yield upTo(index);
      while (await hasMore(pool, before)) yield { page: { before }, ...checkpoint };
    }
    yield upTo(events.length);
  }
}

/** Referring aggregates that are not recorded yet, in order. */
const referringTo = (
  parent: string,
  references: string,
  position: string,
): string => `from process_manager.reference r
  where r.parent = ${parent} and split_part(r.name, '/', 1) = any(${references}) and (r.child, r.name) > (
    coalesce((select f.child from process_manager.fan_out f where f.position = ${position}), ''),
    coalesce((select f.name from process_manager.fan_out f where f.position = ${position}), ''))
  order by r.child, r.name`;
const REFERRING = referringTo('$1', '$2', '$3');

/**
 * The positions of events with more referring aggregates than fit in a page, counted before the page.
 * References within the page add little.
 */
const crowdedOf = async (
  pool: Pick<Pool, 'query'>,
  happened: readonly Happened[],
): Promise<ReadonlySet<Position>> => {
  if (happened.length === 0) return new Set();
  const { rows } = await pool.query<{ position: Position }>(
    `select h.position from jsonb_to_recordset($1::jsonb) as h (position bigint, parent text, names text[])
     where h.position > (select after_position from process_manager.reacting)
       and exists (select ${referringTo('h.parent', 'h.names', 'h.position')} offset ${PAGE})`,
    [
      JSON.stringify(
        happened.map(({ position, parent, references }) => ({ position, parent, names: references })),
      ),
    ],
  );
  return new Set(rows.map(({ position }) => position));
};

const hasMore = async (pool: Pick<Pool, 'query'>, happened: Happened): Promise<boolean> =>
  (await crowdedOf(pool, [happened])).size > 0;

/** Records the next page of aggregates that refer to an event. */
export const notePage = async (connection: Connection, happened: Happened): Promise<void> => {
  const tasks = await reactingTo(connection, happened, PAGE);
  await addTasks(
    connection,
    tasks.map(({ task }) => task),
  );
  const last = tasks.at(-1);
  if (last === undefined) return;
  if (happened.isEnd)
    await connection.query(
      `delete from process_manager.reference r using unnest($1::text[], $2::text[]) as t (child, name) where r.child = t.child and r.name = t.name`,
      [tasks.map(({ task }) => task.stream), tasks.map(({ reference }) => reference)],
    );
  await connection.query(
    `insert into process_manager.fan_out (position, child, name) values ($1, $2, $3)
     on conflict (only_one) do update set position = excluded.position, child = excluded.child, name = excluded.name`,
    [happened.position, last.task.stream, last.reference],
  );
};

type Referring = { readonly task: ReactionTask; readonly reference: string };

/** The tasks of aggregates that refer to an event: all remaining ones, or the next page. */
export const reactingTo = async (
  connection: Connection,
  { parent, type, position, references, cause }: Omit<Happened, 'isEnd'>,
  rowsMax: number | null = null,
): Promise<readonly Referring[]> => {
  const { rows } = await connection.query<{ child: StreamName; name: string }>(
    `select r.child, r.name ${REFERRING} limit $4`,
    [parent, references, position, rowsMax],
  );
  return rows.map(({ child, name }) => ({
    task: { task: 'run', stream: child, name: nameOf(name, type), cause },
    reference: name,
  }));
};

/**
 * The name of a task: for `claim.team` and `team.closed` it is `team team.closed`; for an item,
 * `items.article/3 article.deleted`.
 */
export const nameOf = (reference: string, type: string): string =>
  `${reference.slice(reference.indexOf('.') + 1)} ${type}`;
