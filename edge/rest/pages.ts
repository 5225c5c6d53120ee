import { hash } from 'node:crypto';
import * as z from 'zod';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import type { Stretch } from '#shared/webhooks/deliveries.ts';

type Key = number | string;

/** A list with the latest first, by a unique key. */
type KeyedList<Row, Of extends Key> = {
  /** The canonical path, the base of the links to other pages. */
  readonly path: string;
  /** The parameters that `PAGE` and the list’s own schema accept. */
  readonly asked: {
    readonly limit?: number | undefined;
    readonly after?: string | undefined;
    readonly before?: string | undefined;
    readonly [filter: string]: Key | undefined;
  };
  readonly kindOfKey: Of extends number ? 'number' : 'string';
  read(stretch: Stretch<Of>): Promise<readonly Row[]>;
  keyOf(row: Row): Of;
  represent(row: Row): object;
};

/** Reads one page, with the links to those around it. */
export const readKeyedList = async <Row, Of extends Key>(list: KeyedList<Row, Of>): Promise<ListAnswer> => {
  const { path, asked, kindOfKey, keyOf, represent } = list;
  const { limit = LIMIT_DEFAULT, after, before, ...filter } = asked;
  const parse = (text: string | undefined) =>
    text === undefined ? undefined : parseKey<Of>(path, kindOfKey, text);
  const isBackward = after === undefined && before !== undefined;
  const bounds =
    after === undefined
      ? { after: undefined, before: parse(before) }
      : { after: parse(after), before: undefined };
  const read = await list.read({ ...bounds, isBackward, rowsMax: limit + 1 });
  const nearest = read.slice(0, limit);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const hasMore = read.length > limit;
  const hrefAt = (place: { readonly after?: string | undefined; readonly before?: string | undefined }) =>
    hrefOf(path, { ...filter, ...(asked.limit !== undefined && { limit }), ...place });
  const [first, last] = [rows[0], rows.at(-1)];
  // There were items on the side of the cursor when it was created.
  const hasNext = isBackward || hasMore;
  const hasPrevious = after !== undefined || (isBackward && hasMore);
  return {
    kind: 'list',
    items: rows.map(represent),
    links: {
      self: hrefAt({ after, before }),
      ...((after ?? before) !== undefined && { first: hrefAt({}) }),
      ...(hasPrevious && first !== undefined && { prev: hrefAt({ before: formatKey(path, keyOf(first)) }) }),
      ...(hasNext && last !== undefined && { next: hrefAt({ after: formatKey(path, keyOf(last)) }) }),
    },
  };
};

const hrefOf = (path: string, parameters: Readonly<Record<string, Key | undefined>>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const query = new URLSearchParams(given).toString();
  return query === '' ? path : `${path}?${query}`;
};

const IDENTITY_CHARACTERS = 8;

/** A cursor is valid for its own list only. */
const identityOf = (list: string): string => hash('sha256', list, 'base64url').slice(0, IDENTITY_CHARACTERS);

export const formatKey = (list: string, key: Key): string =>
  Buffer.from(JSON.stringify([identityOf(list), key])).toString('base64url');

const KEYS = {
  number: z.int().nonnegative(),
  string: z
    .string()
    // The names of an aggregate, of a reaction and of an event, and a time.
    .max(300)
    .regex(/^[\x20-\x7e]*$/),
};

/** Throws a problem if it is no cursor of this list. */
export const parseKey = <Of extends Key>(list: string, kind: 'number' | 'string', text: string): Of => {
  const result = z.tuple([z.literal(identityOf(list)), KEYS[kind]]).safeParse(decode(text));
  if (!result.success) throw new HttpProblem('unknown_cursor');
  // The schema of the kind has checked it.
  return result.data[1] as Of;
};

const decode = (text: string): unknown => {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    // Not one of ours; the schema reports that.
    return undefined;
  }
};
