import { formatKey, parseKey } from '#edge/rest/pages.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';
import { readFailureOf } from '../../rows/statement.ts';
import { boundsIn, connectionOf } from './connections.ts';

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

export const readKeyedConnection = <Row, Key extends number | string>(
  args: Arguments,
  { name, kindOfKey, read, keyOf, represent }: Keyed<Row, Key>,
) =>
  connectionOf<Row, Key>(
    boundsIn(args, (cursor) => parseKey<Key>(name, kindOfKey, String(cursor))),
    {
      read: (stretch) => orUnavailable(read(stretch)),
      cursorAt: (row) => formatKey(name, keyOf(row)),
      nodeOf: represent,
    },
  );
