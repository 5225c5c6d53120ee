import { linksOfPage } from '#edge/rest/pages.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { LIMIT_DEFAULT } from '#kernel/base/rest/lists.ts';
import { formatListCursor, listIdentity, parseListCursor } from './cursor.ts';
import { type Gap, type Order, type Page, pageOf, type Walk } from './walk.ts';

/** The parameters of a list, as parsed by `PAGE` and its own schema. */
type Asked = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly sort?: string | undefined;
  readonly [filter: string]: string | number | boolean | undefined;
};

type List<Column extends string, Row> = {
  /** The canonical path, for the links to other pages. */
  readonly path: string;
  readonly asked: Asked;
  /** The order asked for, or the default. */
  readonly order: Order<Column>;
  /** Must read the rows of this walk, nearest first, and one more that shows whether others follow. */
  read(walk: Walk<Column>): Promise<readonly Row[]>;
  represent(row: Row): object;
  readonly create?: Link | undefined;
};

type Listable<Column extends string> = { readonly id: number } & Readonly<Record<Column, Date | null>>;

/** Reads one page of a list, with links to the others. */
export const readList = <Column extends string, Row extends Listable<Column>>({
  read,
  ...list
}: List<Column, Row>): Promise<ListAnswer> =>
  readListUpTo({ ...list, read: async (walk) => ({ rows: await read(walk), stoppedAt: undefined }) });

/** The rows found for a page, and the last row examined if the search stopped early. */
export type Picked<Row> = { readonly rows: readonly Row[]; readonly stoppedAt: Row | undefined };

type ListUpTo<Column extends string, Row> = Omit<List<Column, Row>, 'read'> & {
  read(walk: Walk<Column>): Promise<Picked<Row>>;
};

/** The same for a list whose rows must be searched: a page may be short or empty though others follow. */
export const readListUpTo = async <Column extends string, Row extends Listable<Column>>({
  path,
  asked,
  order,
  read,
  represent,
  create,
}: ListUpTo<Column, Row>): Promise<ListAnswer> => {
  const { limit, after, before, ...which } = asked;
  const identity = listIdentity({ ...which, path, sort: `${order.descending ? '-' : ''}${order.column}` });
  const walk: Walk<Column> = {
    order,
    limit: limit ?? LIMIT_DEFAULT,
    from: startOf({ after, before }, identity),
  };
  const { rows, stoppedAt } = await read(walk);
  const cursorOf = (gap: Gap | undefined) => gap && formatListCursor(identity, gap);
  const keyOf = (row: Row): Date => demandKey(row[order.column]);
  const page: Page<Row> = {
    ...pageOf(walk, rows, keyOf),
    ...(stoppedAt && gapBehind(walk, { atMs: keyOf(stoppedAt).getTime(), id: stoppedAt.id })),
  };
  return {
    kind: 'list',
    items: page.rows.map(represent),
    links: linksOfPage(path, asked, { previous: cursorOf(page.previous), next: cursorOf(page.next) }),
    create,
  };
};

/** The gap at which the next page resumes the search. */
const gapBehind = ({ from }: Walk, place: Omit<Gap, 'side'>): Partial<Omit<Page<unknown>, 'rows'>> =>
  from?.direction === 'before'
    ? { previous: { ...place, side: 'before' } }
    : { next: { ...place, side: 'after' } };

const startOf = ({ after, before }: Pick<Asked, 'after' | 'before'>, identity: string): Walk['from'] => {
  if (after !== undefined) return { gap: parseListCursor(identity, after), direction: 'after' };
  if (before !== undefined) return { gap: parseListCursor(identity, before), direction: 'before' };
  return undefined;
};

const demandKey = (key: Date | null): Date => {
  if (key === null) throw new Error('a row has no value in the column that its list is ordered by');
  return key;
};
