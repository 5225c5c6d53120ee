import { sqlName } from '../base/names.ts';
import type { AskedTable } from './view-readers.ts';
import { CHANGES, type ViewTable } from './view-table.ts';

/**
 * State that streams of views need to resume, beside the position of the last change of each row. It is
 * written in the transaction of the rows. Digests exclude it, because it depends on how the log was cut into
 * batches.
 */

/** The number of removed keys that are remembered for each view; twice as many between cleanups. */
export const REMOVED_MAX = 10_000;

/** The tables, and the function that drops old removed keys; created only if the domain has views. */
export const STREAM_TABLES: readonly string[] = [
  `create table view_stream (
  view text primary key,
  -- Differs once the rows may be others though nothing has happened since.
  generation uuid not null default gen_random_uuid(),
  since bigint not null default 0,
  -- Of what vanished up to here, some is not remembered.
  forgotten bigint not null default 0,
  removals bigint not null default 0
)`,
  'create table view_removed (view text not null, key jsonb not null, position bigint not null)',
  // The last position at which the visibility of unchanged rows changed for a user; user 0 stands for
  // everyone.
  'create table view_readers (view text not null, user_id bigint not null, position bigint not null, primary key (view, user_id))',
  // Keys may exceed the size of an index entry.
  'create unique index view_removed_by_key on view_removed (view, md5(key::text))',
  'create index view_removed_by_position on view_removed (view, position)',
  `create function forget_removed(of_view text, more bigint) returns void language plpgsql as $$
  declare upto bigint;
  begin
    update view_stream s set removals = s.removals + more where s.view = of_view;
    if (select s.removals from view_stream s where s.view = of_view) <= ${2 * REMOVED_MAX} then return; end if;
    select r.position into upto from view_removed r where r.view = of_view order by r.position desc offset ${REMOVED_MAX} limit 1;
    delete from view_removed r where r.view = of_view and r.position <= upto;
    update view_stream s set forgotten = greatest(s.forgotten, upto), removals = (select count(*) from view_removed r where r.view = of_view)
    where s.view = of_view;
  end $$`,
];

export const beginStreamOf = ({ name }: ViewTable): string =>
  `insert into view_stream (view) values ('${name}')`;

/** The position that this transaction reaches; the projector has already moved the checkpoint. */
export const POSITION = `coalesce((select c.position from public.follower_checkpoint c where c.follower = 'projector'), 0)`;

/** Remembers the keys of rows that a statement named `gone` has deleted. */
export const noteRemovedFrom = ({ name, keys }: ViewTable, deletion: string): readonly string[] => [
  `with gone as (${deletion} returning ${keys.map((each) => `v.${each}`).join(', ')})
         insert into view_removed as r (view, key, position)
         select '${name}', jsonb_build_object(${keys.map((each) => `'${each}', ${each}`).join(', ')}), at_position from gone
         on conflict (view, md5(key::text)) do update set position = excluded.position`,
  'get diagnostics removed = row_count',
  `if removed > 0 then perform forget_removed('${name}', removed); end if`,
];

/** The keys of present rows and of remembered removed ones. */
const known = ({ name, keys }: ViewTable): string =>
  `(select ${keys.join(', ')} from ${name} union all
      select ${keys.map((each) => `k.${each}`).join(', ')} from view_removed r cross join lateral jsonb_populate_record(null::${name}, r.key) k
      where r.view = '${name}') v`;

/** Records, by user, when visibility of rows may change although the rows do not. */
export const keepingReadersOf = (view: ViewTable, asked: readonly AskedTable[]): readonly string[] =>
  asked.flatMap((table, index) =>
    CHANGES.flatMap(({ operation, hasOld, hasNew }) => {
      const keep = sqlName(`keep_readers_${index}_of_${view.name}_on_${operation}`);
      const referencing = [hasOld && 'old table as went', hasNew && 'new table as came']
        .filter(Boolean)
        .join(' ');
      const rows = (from: string) => `select ${table.columns.join(', ')} from ${from}`;
      const changed =
        hasOld && hasNew
          ? `((${rows('went')} except ${rows('came')}) union all (${rows('came')} except ${rows('went')}))`
          : `(${rows(hasNew ? 'came' : 'went')})`;
      const from = `from ${known(view)}${table.joinTo(changed)}`;
      const concerned = (table.readers ?? [{ joins: '', id: '0::bigint' }]).map(
        ({ joins, id }) => `select ${id} as id ${from}${joins}`,
      );
      return [
        `create function ${keep}() returns trigger language plpgsql as $$
       begin
         insert into view_readers as r (view, user_id, position)
         select distinct '${view.name}', c.id, ${POSITION} from (${concerned.join(' union ')}) c where c.id is not null
         on conflict (view, user_id) do update set position = excluded.position;
         return null;
       end $$`,
        `create trigger ${keep} after ${operation} on ${table.name} referencing ${referencing} for each statement
       when (current_setting('annals.projecting', true) = 'on') execute function ${keep}()`,
      ];
    }),
  );
