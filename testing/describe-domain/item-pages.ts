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
};
