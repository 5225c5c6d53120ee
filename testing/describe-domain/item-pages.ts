import { wire } from '#kernel/base/names.ts';
import type { Row } from '#kernel/registry/registry.ts';
import { orderName } from '../../query/graphql/rules/names.ts';
import type { Checks } from './checks.ts';
import {
  type Filling,
  type Item,
  itemSourceOf,
  keyOf,
  keySelection,
  keyShown,
  keysIn,
  pathOf,
} from './items.ts';
import { checkBothWays, sizeFor } from './pages.ts';

/** Reads the items of a list in pages, forward and back, by REST and GraphQL. */
export const checkItemPages = async ({ stage, made, list }: Filling, checks: Checks): Promise<void> => {
  const { kind } = made.situation;
  const source = itemSourceOf(stage, kind, list);
  const inPages = (wanted: readonly string[], { query, args }: Readonly<Record<'query' | 'args', string>>) =>
    checkBothWays(
      { stage, checks, by: stage.admin },
      {
        path: `${pathOf(made, list)}?${query}limit=${sizeFor(wanted.length)}`,
        size: sizeFor(wanted.length),
        wanted,
        keyOf: (item) => keyOf(item as Item),
        connection: {
          before: `one: ${kind.field}(id: "${made.id}") {`,
          name: `${list.name}Connection`,
          args,
          node: keySelection(source),
          after: '}',
          keyOf: (node: Row) => keyShown(node),
        },
      },
    );
  await inPages(await keysIn({ stage, made, list }), { query: '', args: '' });
  const { body: all } = await stage.read<readonly Item[]>(`${pathOf(made, list)}?limit=100`, stage.admin);
  for (const { name } of source.sorts)
    for (const isDescending of [false, true])
      await inPages(sortedKeys(all, name, isDescending), {
        query: `sort=${isDescending ? '-' : ''}${name}&`,
        args: `, sort: ${orderName({ name }, isDescending)}`,
      });
  await checkFilters({ stage, made, list }, checks);
};

/** The items that have the time, and of equal ones the first by id. */
const sortedKeys = (items: readonly Item[], name: string, isDescending: boolean): readonly string[] => {
  const idOf = (item: Item): number | string => (typeof item.id === 'number' ? item.id : keyOf(item));
  const compare = (one: number | string, other: number | string): number =>
    one === other ? 0 : one < other ? -1 : 1;
  return items
    .filter((item) => item[name] !== null)
    .toSorted((one, other) => {
      const compared = compare(String(one[name]), String(other[name])) || compare(idOf(one), idOf(other));
      return isDescending ? -compared : compared;
    })
    .map(keyOf);
};

/** Each value that an item has finds the items with it, and no others. */
const checkFilters = async (
  { stage, made, list }: Pick<Filling, 'stage' | 'made' | 'list'>,
  checks: Checks,
): Promise<void> => {
  const source = itemSourceOf(stage, made.situation.kind, list);
  const read = async (query: string): Promise<readonly Item[]> =>
    (await stage.read<readonly Item[]>(`${pathOf(made, list)}?limit=100${query}`, stage.admin)).body;
  const all = await read('');
  for (const { name, column } of source.filters) {
    const member = source.members.find((each) => each.column === column);
    if (member === undefined) continue;
    const shownIn = (item: Item): unknown => {
      const shown = item[member.name] ?? item[wire(member.name, member.def)] ?? null;
      return typeof shown === 'object' && shown !== null && 'id' in shown ? shown.id : shown;
    };
    const having = (item: Item, value: unknown): boolean => {
      const own = shownIn(item);
      return Array.isArray(own) ? own.includes(value) : own === value;
    };
    for (const value of new Set(all.flatMap(shownIn))) {
      if (value === null) continue;
      const found = await read(`&${name}=${encodeURIComponent(String(value))}`);
      checks.equal(
        found.map(keyOf),
        all.filter((item) => having(item, value)).map(keyOf),
        `${list.name} with ${name} ${value}`,
      );
    }
  }
};
