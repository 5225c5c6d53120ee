import { column, sqlName } from '../base/names.ts';
import type { ViewInfo } from '../registry/registry.ts';
import type { Chosen, ShareTable } from './shares.ts';
import { noteRemovedFrom, POSITION } from './view-streams.ts';
import { additionsOf, averageOf, CHANGED, CHANGES, SHARES, type ViewTable } from './view-table.ts';

export const viewDefinitionOf = ({ name, columns, keys, summed, averages }: ViewTable): string => {
  const lines = Object.entries(columns).map(([each, type]) => {
    if (averages.includes(each)) return `${each} ${type} generated always as (${averageOf(each)}) stored`;
    const collation = type === 'text' && keys.includes(each) ? ' collate "C"' : '';
    const rule = summed.includes(each)
      ? ' not null default 0'
      : [...keys, SHARES].includes(each)
        ? ' not null'
        : '';
    return `${each} ${type}${collation}${rule}`;
  });
  const changed = `${CHANGED} bigint not null default 0`;
  return `create table ${name} (\n  ${[...lines, changed, `primary key (${keys.join(', ')})`].join(',\n  ')}\n)`;
};

/** Indexes by the other parts of the key, by each order of lists, and by last change. */
export const viewIndexesOf = ({ name, keys }: ViewTable, { values }: ViewInfo): readonly string[] => {
  const sorted = Object.entries(values).flatMap(([value, { def }]) => (def.sort ? [column(value, def)] : []));
  return [...keys.slice(1), ...sorted, CHANGED].map(
    (each) =>
      `create index ${name}_by_${each} on ${name} (${[each, ...keys.filter((key) => key !== each)].join(', ')})`,
  );
};

const isKeyed = (keys: readonly string[]): string => keys.map((each) => `${each} is not null`).join(' and ');

/** The whole view, recomputed from its shares, by column. */
export const sumOf = (
  { keys, summed, averages, chosen }: ViewTable,
  shares: readonly ShareTable[],
  schema?: string,
): string => {
  const from = schema === undefined ? '' : `${schema}.`;
  const part = (share: ShareTable) => {
    const added = additionsOf(share);
    return [
      ...keys,
      ...summed.map((each) => `(${added[each] ?? '0'})::numeric as ${each}`),
      ...chosen.flatMap(({ column: each, type }) => {
        const own = share.chosen.find(({ column }) => column === each);
        return own ? [each, `${own.by} as ${placeOf(each)}`] : [`null::${type} as ${each}`, noPlaceOf(each)];
      }),
    ].join(', ');
  };
  const noPlaceOf = (each: string): string => {
    const { by, column, type } = chosen.find((one) => one.column === each) as Chosen;
    return `null::${by === column ? type : 'bigint'} as ${placeOf(each)}`;
  };
  const parts = shares.map(
    (share) => `select ${part(share)} from ${from}${share.name} where ${isKeyed(keys)}`,
  );
  const values = [
    ...keys,
    ...summed.map((each) => `sum(${each}) as ${each}`),
    ...averages.map((each) => `${averageOf(each, (sum) => `sum(${sum})`)} as ${each}`),
    ...chosen.map(
      ({ column: each, isHighest }) =>
        `(array_agg(${each} order by ${placeOf(each)} ${directionOf(isHighest)}) filter (where ${placeOf(each)} is not null))[1] as ${each}`,
    ),
    `count(*) as ${SHARES}`,
  ];
  return `select ${values.join(', ')} from (${parts.join(' union all ')}) parts group by ${keys.join(', ')}`;
};

/** The column of a subselect by which a value is chosen. */
const placeOf = (each: string): string => `${each}_place`;

const directionOf = (isHighest: boolean): string => (isHighest ? 'desc' : 'asc');

/**
 * Triggers that keep a view in step with one of its tables of shares, whatever statement changes it: once per
 * key, from the transition tables. Each is a function per statement.
 */
export const keepingOf = (
  view: ViewTable,
  share: ShareTable,
  all: readonly ShareTable[],
): readonly string[] =>
  CHANGES.flatMap(({ operation, hasOld, hasNew }) => {
    const keep = sqlName(`keep_${share.name}_on_${operation}`);
    const referencing = [hasOld && 'old table as went', hasNew && 'new table as came']
      .filter(Boolean)
      .join(' ');
    const statements = [
      additionOf(view, share, { hasOld, hasNew }),
      ...(hasOld ? noteRemovedFrom(view, removalOf(view)) : []),
      ...choiceOf(view, share, all, { hasOld, hasNew }),
    ];
    return [
      `create function ${keep}() returns trigger language plpgsql as $$
       declare at_position bigint := ${POSITION}; removed bigint;
       begin
         ${statements.join(';\n         ')};
         return null;
       end $$`,
      // A manual change of shares is detected by comparison with the sums.
      `create trigger ${keep} after ${operation} on ${share.name} referencing ${referencing} for each statement
       when (current_setting('annals.projecting', true) = 'on') execute function ${keep}()`,
    ];
  });

type Seen = { readonly hasOld: boolean; readonly hasNew: boolean };

/** In the order of keys, so that concurrent writers never deadlock. */
const additionOf = ({ name, keys }: ViewTable, share: ShareTable, { hasOld, hasNew }: Seen): string => {
  const added = additionsOf(share);
  const side = (sign: string, from: string) =>
    `select ${[...keys, ...Object.entries(added).map(([to, of]) => `${sign}${of} as ${to}`), `${sign}1 as ${SHARES}`].join(', ')} from ${from} where ${isKeyed(keys)}`;
  const changes = [...(hasNew ? [side('', 'came')] : []), ...(hasOld ? [side('-', 'went')] : [])].join(
    ' union all ',
  );
  const sums = [SHARES, ...Object.keys(added)];
  const list = [...keys, ...sums].join(', ');
  return `insert into ${name} as v (${list}, ${CHANGED})
         select ${[...keys, ...sums.map((each) => `sum(${each}) as ${each}`), 'at_position'].join(', ')} from (${changes}) changes
         group by ${keys.join(', ')} having ${sums.map((each) => `sum(${each}) <> 0`).join(' or ')} order by ${keys.join(', ')}
         on conflict (${keys.join(', ')}) do update set ${[CHANGED, ...sums].map((each) => (each === CHANGED ? `${each} = excluded.${each}` : `${each} = v.${each} + excluded.${each}`)).join(', ')}`;
};

const sameKey = (keys: readonly string[], one: string, other: string): string =>
  keys.map((each) => `${one}.${each} = ${other}.${each}`).join(' and ');

const removalOf = ({ name, keys }: ViewTable): string =>
  `delete from ${name} v using went w where ${sameKey(keys, 'v', 'w')} and v.${SHARES} = 0`;

/**
 * Finds the value per affected key by an index, because the share that gave it may be gone. Not needed if only
 * numbers changed.
 */
const choiceOf = (
  view: ViewTable,
  share: ShareTable,
  all: readonly ShareTable[],
  { hasOld, hasNew }: Seen,
): readonly string[] => {
  if (share.chosen.length === 0) return [];
  const { name, keys } = view;
  const columns = share.chosen.map(({ column }) => column);
  const found = share.chosen.map(({ column: each, by, isHighest }) => {
    const direction = directionOf(isHighest);
    const parts = all
      .filter(({ chosen }) => chosen.some(({ column }) => column === each))
      .map(
        (other) =>
          `(select s.${each}, s.${by} as place from ${other.name} s where ${sameKey(keys, 's', 'k')} and s.${by} is not null
           order by s.${by} ${direction} limit 1)`,
      );
    return `(select l.${each} from (${parts.join(' union all ')}) l order by l.place ${direction} limit 1) as ${each}`;
  });
  const isOther = columns.map((each) => `v.${each} is distinct from f.${each}`).join(' or ');
  return [
    `update ${name} v set ${columns.map((each) => `${each} = f.${each}`).join(', ')}, ${CHANGED} = at_position
         from (select ${keys.map((each) => `k.${each}`).join(', ')}, ${found.join(', ')} from (${concernedIn(share, { hasOld, hasNew })}) k) f
         where ${sameKey(keys, 'v', 'f')} and (${isOther})`,
  ];
};

/** The keys for which such a value was added, changed or removed. */
const concernedIn = ({ keys, chosen }: ShareTable, { hasOld, hasNew }: Seen): string => {
  const places = chosen.map(({ by }) => by);
  const listed = (row: string, columns: readonly string[]) =>
    columns.map((each) => `${row}.${each}`).join(', ');
  const isThere = (row: string) => places.map((each) => `${row}.${each} is not null`).join(' or ');
  if (!(hasOld && hasNew))
    return `select distinct ${listed('c', keys)} from ${hasNew ? 'came' : 'went'} c where ${isThere('c')}`;
  const compared = [...keys, ...places];
  return `select distinct ${listed('e', keys)} from went w join came c on c.id = w.id
           cross join lateral (values (${listed('w', keys)}), (${listed('c', keys)})) e (${keys.join(', ')})
           where row(${listed('w', compared)}) is distinct from row(${listed('c', compared)}) and (${isThere('w')} or ${isThere('c')})`;
};
