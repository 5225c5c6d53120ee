import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import type { Belonging } from '#kernel/decide/memberships.ts';
import type { Pool } from '#shared/database/pool.ts';

/**
 * Nobody waits for the disk: the checkpoint that moves past these events is written to it later, so a crash
 * that loses them loses that too.
 */
const PASSING = `set_config('synchronous_commit', 'off', true) is not null`;

/** Records parents of children, and returns the children whose parent has already ended. Idempotent. */
export const join = async (pool: Pool, links: readonly Belonging[]): Promise<readonly Belonging[]> => {
  const { rows } = await pool.query<Belonging>(
    `with wanted as (select distinct parent, child from unnest($1::text[], $2::text[]) as w (parent, child)),
     gone as (select w.parent, w.child from wanted w join process_manager.deleted_parent d on d.parent = w.parent),
     joined as (
       insert into process_manager.member (parent, child)
       select parent, child from wanted where parent not in (select parent from gone) and ${PASSING}
       on conflict do nothing
     )
     select parent, child from gone`,
    columnsOf(links),
  );
  return rows;
};

export const leave = async (pool: Pool, links: readonly Belonging[]): Promise<void> => {
  await pool.query(
    `delete from process_manager.member m using unnest($1::text[], $2::text[]) as l (parent, child) where m.parent = l.parent and m.child = l.child and ${PASSING}`,
    columnsOf(links),
  );
};

/** From now on, `join` returns new children of this parent. */
export const markAsGone = async (pool: Pool, parent: StreamName): Promise<void> => {
  await pool.query('insert into process_manager.deleted_parent (parent) values ($1) on conflict do nothing', [
    parent,
  ]);
};

/** The parents that have ended, as far as the process manager has read the log. */
export const goneAmong = async (
  pool: Pick<Pool, 'query'>,
  parents: readonly StreamName[],
): Promise<ReadonlySet<StreamName>> => {
  const { rows } = await pool.query<{ parent: StreamName }>(
    'select parent from process_manager.deleted_parent where parent = any($1)',
    [parents],
  );
  return new Set(rows.map(({ parent }) => parent));
};

export const orphansOf = async (
  pool: Pool,
  parent: StreamName,
  limit: number,
): Promise<readonly StreamName[]> => {
  const { rows } = await pool.query<{ child: StreamName }>(
    'select child from process_manager.member where parent = $1 order by child limit $2',
    [parent, limit],
  );
  return rows.map(({ child }) => child);
};

/** The children of one kind, as far as the process manager has read the log. */
export const childrenOf = async (
  pool: Pick<Pool, 'query'>,
  parent: StreamName,
  { kind, limit }: { readonly kind: string; readonly limit: number },
): Promise<readonly StreamName[]> => {
  const { rows } = await pool.query<{ child: StreamName }>(
    'select child from process_manager.member where parent = $1 and starts_with(child, $2) limit $3',
    [parent, streamName(kind, ''), limit],
  );
  return rows.map(({ child }) => child);
};

const columnsOf = (links: readonly Belonging[]): [StreamName[], StreamName[]] => [
  links.map(({ parent }) => parent),
  links.map(({ child }) => child),
];
