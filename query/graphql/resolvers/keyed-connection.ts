import { formatKey, parseKey } from '#edge/rest/pages.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';
import { readFailureOf } from '../../rows/statement.ts';
import { pageSize } from './connections.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** A list with the latest first, by a unique key. */
type Keyed<Row, Key extends number | string> = {
  /** Distinguishes its cursors from those of other lists. */
  readonly name: string;
  readonly kindOfKey: Key extends number ? 'number' : 'string';
  read(stretch: Stretch<Key>): Promise<readonly Row[]>;
  keyOf(row: Row): Key;
  represent(row: Row): object;
};

/** A database failure is reported as temporary. */
export const orUnavailable = <Found>(reading: Promise<Found>): Promise<Found> =>
  reading.catch((cause) => {
    throw readFailureOf(cause);
  });

/** A connection (GraphQL Cursor Connections Specification). */
export const readKeyedConnection = async <Row, Key extends number | string>(
  args: Arguments,
  { name, kindOfKey, read, keyOf, represent }: Keyed<Row, Key>,
) => {
  const has = (argument: string): boolean => (args[argument] ?? null) !== null;
  if (has('first') && has('last'))
    throw new HttpProblem('invalid_parameter', { detail: 'A connection takes first or last, not both.' });
  const size = pageSize(args.first ?? args.last);
  const isBackward = has('last');
  const keyAt = (side: 'after' | 'before') =>
    has(side) ? parseKey<Key>(name, kindOfKey, String(args[side])) : undefined;
  const found = await orUnavailable(
    read({ after: keyAt('after'), before: keyAt('before'), isBackward, rowsMax: size + 1 }),
  );
  const nearest = found.slice(0, size);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const hasMore = found.length > size;
  const edges = rows.map((row) => ({ cursor: formatKey(name, keyOf(row)), node: represent(row) }));
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      // On the side that the client came from, there was an item when the cursor was made.
      hasNextPage: has('before') || (!isBackward && hasMore),
      hasPreviousPage: has('after') || (isBackward && hasMore),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
};
