import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { column, sqlName } from '#kernel/base/names.ts';
import type { Operation } from '#kernel/base/operation.ts';
import type { Facts } from '#kernel/conditions/facts.ts';
import { askedItemsSql, askedListOf } from '#kernel/conditions/lists.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { staysWhenEnded } from '#kernel/registry/stays-when-ended.ts';
import { type Parents, visibilityOf } from '#kernel/visibility/visibility.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type Caller, mayByFacts } from '#shared/policy.ts';

/** Whether a caller may read the aggregate of an event now, or the part of it that a right guards. */
export type IsReadable = (caller: Caller, stream: StreamName, right?: Operation) => Promise<boolean>;

/** Runs one of a few fixed statements. */
type Run = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

type Options = {
  readonly domain: Domain;
  readonly run: Run;
  /** The schema of the read model. */
  readonly schema?: string;
};

/** Checks read rights against the present read model. Concurrent checks share one lookup. */
export const createPresentRights = ({ domain, run, schema = 'read_model' }: Options): IsReadable => {
  const catalogue = catalogueOf(domain);
  const kinds = new Map(
    Object.values(domain.kinds).map((kind) => {
      const of = {
        find: finderOf({ domain, run, schema }, kind),
        right: operationOf(kind, 'read'),
        prefix: streamName(kind.name, ''),
      };
      return [kind.name, of] as const;
    }),
  );
  return async (caller, stream, right) => {
    const kind = catalogue.kindOf(stream);
    const declared = kinds.get(kind ?? '');
    // Other kernel kinds have no row to check: a caller that may see their events may read all of them.
    if (declared === undefined) return kind !== undefined && catalogue.publicKinds.includes(kind);
    const id = idIn(stream.slice(declared.prefix.length));
    const facts = id === undefined ? undefined : await declared.find(id);
    return facts !== undefined && mayByFacts(caller, right ?? declared.right, facts);
  };
};

const idIn = (text: string): number | undefined => (/^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined);

/**
 * A single id has a statement of its own: its one plan suits any id, while the plan for many depends on their
 * number.
 */
const finderOf = ({ domain, run, schema }: Required<Options>, kind: Kind) => {
  const { select, factsOfRow } = readingOf(domain, kind, schema);
  const [ofOne, ofMany] = [select('t.id = $1::bigint'), select('t.id = any($1::bigint[])')];
  return coalesce<number, Facts>(async (ids) => {
    const rows = await (ids.length === 1 ? run<Row>(ofOne, ids) : run<Row>(ofMany, [ids]));
    return new Map(rows.map((row) => [row.id, factsOfRow(row)]));
  });
};

type Row = Readonly<Record<string, unknown>> & { readonly id: number };
type Join = { readonly alias: string; readonly kind: Kind; readonly sql: string };

/** The columns that read rights depend on, with those of referenced aggregates, by the paths to them. */
const readingOf = (domain: Domain, kind: Kind, schema: string) => {
  const joins = joinsOf({ domain, schema }, kind, { path: '', alias: 't', parents: parentsIn(domain, kind) });
  const { facts } = visibilityOf(domain).kinds.get(kind.name) ?? { facts: [] };
  const columns = facts.map(({ path, field }, index) => {
    const { alias = 't', kind: of = kind } = joins.get(path.join('.')) ?? {};
    const list = askedListOf(domain, of, field);
    if (list !== undefined)
      return `coalesce(${askedItemsSql(list, of, { row: alias, schema })}, '[]') as fact_${index}`;
    return `${alias}.${field === 'id' ? 'id' : column(field, of.fields[field])} as fact_${index}`;
  });
  const there = [...joins.values()].map(({ alias }) => `${alias}.id as ${idOf(alias)}`);
  const from = [`${schema}.${kind.table} t`, ...[...joins.values()].map(({ sql }) => sql)].join(' ');
  const isThere = staysWhenEnded(kind) ? ' and t.deleted_at is null' : '';
  return {
    select: (condition: string) =>
      `select ${['t.id', ...columns, ...there].join(', ')} from ${from} where ${condition}${isThere}`,
    factsOfRow(row: Row): Facts {
      const known: Record<string, unknown> = {};
      for (const [index, { key, path }] of facts.entries()) {
        const join = joins.get(path.join('.'));
        // An absent row has no facts.
        if (join === undefined || row[idOf(join.alias)] !== null) known[key] = plain(row[`fact_${index}`]);
      }
      return known;
    },
  };
};

const parentsIn = (domain: Domain, kind: Kind): Parents =>
  visibilityOf(domain).kinds.get(kind.name)?.parents ?? new Map();

/** As states store it. */
const plain = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);

const idOf = (alias: string): string => sqlName(`${alias}_id`);

type From = { readonly path: string; readonly alias: string; readonly parents: Parents };

/** A child ends with its parent, so without a parent there is nothing to read. */
const joinsOf = (
  options: Pick<Required<Options>, 'domain' | 'schema'>,
  kind: Kind,
  { path, alias, parents }: From,
): ReadonlyMap<string, Join> => {
  const joins = new Map<string, Join>();
  for (const [reference, there] of parents) {
    const target = options.domain.kinds[there.kind];
    if (target === undefined) continue;
    const [to, at] = [
      sqlName(`${alias}_${column(reference, undefined)}`),
      path === '' ? reference : `${path}.${reference}`,
    ];
    const isThere = staysWhenEnded(target) ? ` and ${to}.deleted_at is null` : '';
    const how = reference === kind.parent ? 'join' : 'left join';
    const sql = `${how} ${options.schema}.${target.table} ${to} on ${to}.id = ${alias}.${column(reference, kind.fields[reference])}${isThere}`;
    joins.set(at, { alias: to, kind: target, sql });
    for (const [further, join] of joinsOf(options, target, { path: at, alias: to, parents: there.parents }))
      joins.set(further, join);
  }
  return joins;
};
