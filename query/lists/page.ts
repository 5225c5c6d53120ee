import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';

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
