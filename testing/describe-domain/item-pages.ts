import { wire } from '#kernel/base/names.ts';
import type { Row } from '#kernel/registry/registry.ts';
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
  const wanted = await keysIn({ stage, made, list });
  await checkBothWays(
    { stage, checks, by: stage.admin },
    {
      path: `${pathOf(made, list)}?limit=${sizeFor(wanted.length)}`,
      size: sizeFor(wanted.length),
      wanted,
      keyOf: (item) => keyOf(item as Item),
      connection: {
        before: `one: ${kind.field}(id: "${made.id}") {`,
        name: `${list.name}Connection`,
        args: '',
        node: keySelection(itemSourceOf(stage, kind, list)),
        after: '}',
        keyOf: (node: Row) => keyShown(node),
      },
    },
  );
  await checkFilters({ stage, made, list }, checks);
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
