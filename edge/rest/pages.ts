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
  readonly asked: Asked & { readonly [filter: string]: Key | undefined };
  readonly kindOfKey: Of extends number ? 'number' : 'string';
  read(stretch: Stretch<Of>): Promise<readonly Row[]>;
  keyOf(row: Row): Of;
  represent(row: Row): object;
};

/** Reads one page, with the links to those around it. */
export const readKeyedList = async <Row, Of extends Key>(list: KeyedList<Row, Of>): Promise<ListAnswer> => {
  const { path, asked, kindOfKey, keyOf, read, represent } = list;
  const { limit, after, before, ...filter } = asked;
  const page = await readPage<Row, Of>(asked, {
    parse: (cursor) => parseKey<Of>(path, kindOfKey, cursor),
    format: (key) => formatKey(path, key),
    positionOf: keyOf,
    read,
  });
  // A cursor excludes its own row, so that no page beside an empty one begins there.
  const around = page.rows.length === 0 ? { previous: undefined, next: undefined } : page;
  return {
    kind: 'list',
    items: page.rows.map(represent),
    links: linksOfPage(path, { ...filter, limit, after, before }, around),
  };
};

type Asked = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};

/** A list in the order of positions that are unique within it. */
type Keyset<Row, Position> = {
  /** Refuses a cursor of another list. */
  parse(cursor: string): Position;
  format(position: Position): string;
  positionOf(row: Row): Position;
  /** The rows between the two, nearest first: from the end if `isBackward`. */
  read(asked: {
    readonly after: Position | undefined;
    readonly before: Position | undefined;
    readonly isBackward: boolean;
    readonly rowsMax: number;
  }): Promise<readonly Row[]>;
};

/** The cursors of the pages around a page. */
type Around = { readonly previous: string | undefined; readonly next: string | undefined };

/** Keyset pages: a cursor keeps its position, whatever is added, moved and removed elsewhere. */
export const readPage = async <Row, Position>(
  { limit = LIMIT_DEFAULT, after, before }: Asked,
  { parse, format, positionOf, read }: Keyset<Row, Position>,
): Promise<{ readonly rows: readonly Row[] } & Around> => {
  const [text, isBackward] = [after ?? before, after === undefined && before !== undefined];
  const position = text === undefined ? undefined : parse(text);
  const bounds = isBackward ? { after: undefined, before: position } : { after: position, before: undefined };
  const found = await read({ ...bounds, isBackward, rowsMax: limit + 1 });
  const nearest = found.slice(0, limit);
  const rows = isBackward ? nearest.toReversed() : nearest;
  const hasMore = found.length > limit;
  const cursorAt = (row: Row | undefined): string | undefined => {
    const at = row === undefined ? position : positionOf(row);
    return at === undefined ? undefined : format(at);
  };
  // On the side that the client came from, there was a page when it came.
  return {
    rows,
    previous: (isBackward ? hasMore : position !== undefined) ? cursorAt(rows[0]) : undefined,
    next: isBackward || hasMore ? cursorAt(rows.at(-1)) : undefined,
  };
};

/** The links of a page; `asked` are its parameters. */
export const linksOfPage = (
  path: string,
  { after, before, ...rest }: Asked & Readonly<Record<string, string | number | boolean | undefined>>,
  { previous, next }: Around,
): ListAnswer['links'] => {
  const href = (place: Readonly<Record<string, string | undefined>>): string => {
    const given = Object.entries({ ...rest, ...place }).flatMap(
      ([name, value]): readonly [string, string][] => (value === undefined ? [] : [[name, String(value)]]),
    );
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
  };
  return {
    self: href({ after, before }),
    ...((after ?? before) !== undefined && { first: href({}) }),
    ...(previous !== undefined && { prev: href({ before: previous }) }),
    ...(next !== undefined && { next: href({ after: next }) }),
  };
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
