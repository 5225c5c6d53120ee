import { column, sqlName } from '../base/names.ts';
import type { ViewInfo } from '../registry/registry.ts';
import { positionOf, type ShareTable } from './shares.ts';
import { noteRemovedFrom, POSITION } from './view-streams.ts';
import { CHANGED, CHANGES, SHARES, type ViewTable } from './view-table.ts';

export const viewDefinitionOf = ({ name, columns, keys, latest }: ViewTable): string => {
  const lines = Object.entries(columns).map(([each, type]) => {
    const collation = type === 'text' && keys.includes(each) ? ' collate "C"' : '';
    return `${each} ${type}${collation}${each in latest ? '' : type === 'numeric' ? ' not null default 0' : ' not null'}`;
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
  { keys, numbers, latest }: ViewTable,
  shares: readonly ShareTable[],
  schema?: string,
): string => {
  const from = schema === undefined ? '' : `${schema}.`;
  const part = (share: ShareTable) =>
    [
      ...keys,
      ...numbers.map((each) => (share.numbers.includes(each) ? each : `0::numeric as ${each}`)),
      ...Object.entries(latest).flatMap(([each, type]) =>
        share.latest.includes(each)
          ? [each, positionOf(each)]
          : [`null::${type} as ${each}`, `null::bigint as ${positionOf(each)}`],
      ),
    ].join(', ');
  const parts = shares.map(
    (share) => `select ${part(share)} from ${from}${share.name} where ${isKeyed(keys)}`,
  );
  const values = [
    ...keys,
    ...numbers.map((each) => `sum(${each}) as ${each}`),
    ...Object.keys(latest).map(
      (each) =>
        `(array_agg(${each} order by ${positionOf(each)} desc) filter (where ${positionOf(each)} is not null))[1] as ${each}`,
    ),
    `count(*) as ${SHARES}`,
  ];
  return `select ${values.join(', ')} from (${parts.join(' union all ')}) parts group by ${keys.join(', ')}`;
};

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
      ...latestOf(view, share, all, { hasOld, hasNew }),
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
const additionOf = ({ name, keys }: ViewTable, { numbers }: ShareTable, { hasOld, hasNew }: Seen): string => {
  const side = (sign: string, from: string) =>
    `select ${[...keys, ...numbers.map((each) => `${sign}${each} as ${each}`), `${sign}1 as ${SHARES}`].join(', ')} from ${from} where ${isKeyed(keys)}`;
  const changes = [...(hasNew ? [side('', 'came')] : []), ...(hasOld ? [side('-', 'went')] : [])].join(
    ' union all ',
  );
  const sums = [SHARES, ...numbers];
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
 * Finds the latest value per affected key by an index, because the former latest may be gone. Not needed if
 * only numbers changed.
 */
const latestOf = (
  view: ViewTable,
  share: ShareTable,
  all: readonly ShareTable[],
  { hasOld, hasNew }: Seen,
): readonly string[] => {
  if (share.latest.length === 0) return [];
  const { name, keys } = view;
  const found = share.latest.map((each) => {
    const position = positionOf(each);
    const parts = all
      .filter(({ latest }) => latest.includes(each))
      .map(
        (
          other,
        ) => `(select s.${each}, s.${position} from ${other.name} s where ${sameKey(keys, 's', 'k')} and s.${position} is not null
           order by s.${position} desc limit 1)`,
      );
    return `(select l.${each} from (${parts.join(' union all ')}) l order by l.${position} desc limit 1) as ${each}`;
  });
  const isOther = share.latest.map((each) => `v.${each} is distinct from f.${each}`).join(' or ');
  return [
    `update ${name} v set ${share.latest.map((each) => `${each} = f.${each}`).join(', ')}, ${CHANGED} = at_position
         from (select ${keys.map((each) => `k.${each}`).join(', ')}, ${found.join(', ')} from (${concernedIn(share, { hasOld, hasNew })}) k) f
         where ${sameKey(keys, 'v', 'f')} and (${isOther})`,
  ];
};

/** The keys for which a latest value was added or removed, found by its position. */
const concernedIn = ({ keys, latest }: ShareTable, { hasOld, hasNew }: Seen): string => {
  const positions = latest.map(positionOf);
  const listed = (row: string, columns: readonly string[]) =>
    columns.map((each) => `${row}.${each}`).join(', ');
  const isThere = (row: string) => positions.map((each) => `${row}.${each} is not null`).join(' or ');
  if (!(hasOld && hasNew))
    return `select distinct ${listed('c', keys)} from ${hasNew ? 'came' : 'went'} c where ${isThere('c')}`;
  const compared = [...keys, ...positions];
  return `select distinct ${listed('e', keys)} from went w join came c on c.id = w.id
           cross join lateral (values (${listed('w', keys)}), (${listed('c', keys)})) e (${keys.join(', ')})
           where row(${listed('w', compared)}) is distinct from row(${listed('c', compared)}) and (${isThere('w')} or ${isThere('c')})`;
};
