import type { Connection } from '../pool.ts';

/** An object of the database that decides what is stored, and its definition as the server writes it. */
type CatalogObject = {
  /** With its kind: `trigger append_only on event_log.event`. */
  readonly name: string;
  readonly definition: string;
  /** Whether it can change, hide or refuse what we write and read, if it is not ours. */
  readonly acts: boolean;
};

/** Objects by their names. */
export type Catalog = ReadonlyMap<string, CatalogObject>;

/**
 * Reads everything in some schemas that decides what their tables store and return. The server itself writes
 * the definitions, so those of one server are comparable, whatever its version. `prefix` is removed from all
 * names.
 */
export const readCatalog = async (
  connection: Connection,
  schemas: readonly string[],
  prefix = '',
): Promise<Catalog> => {
  // The server omits the schemas of the search path in definitions.
  await connection.query(`set local search_path = ''`);
  const { rows } = await connection.query<CatalogObject>(CATALOG, [schemas]);
  const bare = (text: string): string => text.replaceAll(prefix, '').replaceAll(/\s+/g, ' ');
  return new Map(
    rows.map(({ name, definition, acts }) => [
      bare(name),
      { name: bare(name), definition: bare(definition), acts },
    ]),
  );
};

/** Whether an object belongs to an extension, such as one that a host installs in `public`. */
const isOfExtension = (catalog: string, oid: string): string =>
  `exists (select from pg_depend where classid = '${catalog}'::regclass and objid = ${oid} and deptype = 'e')`;

/**
 * Columns, tables and views that are not ours change nothing about ours, except columns that compute or demand
 * values. Neither do plain indexes. In `public`, users may have functions, unless they have names of others.
 */
const CATALOG = `
  with ours as (select oid, nspname from pg_namespace where nspname = any($1)),
  relation as (
    select c.oid, c.relname, c.relkind, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
      o.nspname || '.' || c.relname as name
    from pg_class c join ours o on o.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and not ${isOfExtension('pg_class', 'c.oid')}
  )
  select 'table ' || name as name,
    concat_ws(' ', relkind::text, relpersistence::text, relrowsecurity, relforcerowsecurity,
      case when relkind in ('v', 'm') then pg_get_viewdef(oid) end) as definition,
    false as acts
  from relation
  union all
  select 'column ' || attname || ' of ' || name,
    concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, nullif(attcollation, 0)::regcollation, attidentity::text,
      attgenerated::text, pg_get_expr(adbin, adrelid)),
    attnotnull or atthasdef
  from relation r join pg_attribute a on a.attrelid = r.oid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where attnum > 0 and not attisdropped
  union all
  -- Columns have their own mark of what may not be null, which newer servers also have as a constraint.
  select format('constraint %s of %s', conname, r.name), pg_get_constraintdef(k.oid), true
  from relation r join pg_constraint k on k.conrelid = r.oid where contype in ('c', 'f', 'p', 'u', 'x')
  union all
  select format('index %s of %s', c.relname, r.name), pg_get_indexdef(i.indexrelid),
    indisunique or exists (select from pg_depend where classid = 'pg_class'::regclass and objid = i.indexrelid and refclassid = 'pg_proc'::regclass)
  from relation r join pg_index i on i.indrelid = r.oid join pg_class c on c.oid = i.indexrelid
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.conrelid = i.indrelid)
  union all
  select format('trigger %s on %s', tgname, r.name), tgenabled::text || ' ' || pg_get_triggerdef(t.oid), true
  from relation r join pg_trigger t on t.tgrelid = r.oid where not tgisinternal
  union all
  select format('disabled trigger on %s', r.name), '', true
  from relation r where exists (select from pg_trigger t where t.tgrelid = r.oid and tgisinternal and tgenabled <> 'O')
  union all
  select format('rule %s on %s', rulename, r.name), ev_enabled::text || ' ' || pg_get_ruledef(w.oid), true
  from relation r join pg_rewrite w on w.ev_class = r.oid where rulename <> '_RETURN'
  union all
  select format('policy %s on %s', polname, r.name), polcmd::text, true
  from relation r join pg_policy p on p.polrelid = r.oid
  union all
  select format('table %s that inherits from %s', i.inhrelid::regclass, r.name), '', true
  from relation r join pg_inherits i on i.inhparent = r.oid
  union all
  select format('subscription to %s', r.name), '', true
  from relation r where exists (select from pg_subscription_rel s where s.srrelid = r.oid)
  union all
  select format('function %s.%s(%s)', nspname, proname, pg_get_function_identity_arguments(p.oid)),
    case when prokind = 'a' then 'aggregate' else pg_get_functiondef(p.oid) end,
    nspname <> 'public' or exists (select from pg_proc known join pg_namespace n on n.oid = known.pronamespace
      where known.proname = p.proname and n.nspname = 'pg_catalog')
  from pg_proc p join ours o on o.oid = p.pronamespace where not ${isOfExtension('pg_proc', 'p.oid')}
  union all
  select format('operator %s.%s', nspname, oprname), '', true
  from pg_operator p join ours o on o.oid = p.oprnamespace where not ${isOfExtension('pg_operator', 'p.oid')}
  union all
  select 'event trigger ' || evtname, evtenabled::text || ' ' || evtevent, true
  from pg_event_trigger e where evtowner in (select nspowner from pg_namespace where nspname = any($1))
    and not ${isOfExtension('pg_event_trigger', 'e.oid')}`;
