import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { isUser } from '#kernel/base/users.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { readList } from '../lists/list.ts';
import { stretchOfPage } from '../lists/walk.ts';
import { demandSearchable } from '../rows/rights.ts';
import type { Sort, Source } from '../rows/source.ts';
import type { Row } from '../rows/sources.ts';
import { filtersIn, listRows, type RowFilter } from './list-rows.ts';
import { representationOf } from './representation.ts';
import type { ItemRow } from './rows.ts';
import { selectionOfList } from './selection.ts';

/** The parameters of a list, as parsed by the schema of its operation. */
export type Asked = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly sort?: string | undefined;
  readonly at?: string | undefined;
  readonly [filter: string]: string | number | boolean | undefined;
};

type Listed = {
  readonly path: string;
  readonly asked: Asked;
  /**
   * The parent or owner of the list: the column of the reference and the id, and of a parent the columns that
   * its children’s rights need.
   */
  readonly under?: { readonly column: string; readonly id: number; readonly row?: Row } | undefined;
  readonly create?: Link | undefined;
};

/** The sort that REST calls by this name. */
export const sortOf = (
  { sorts, isNewestFirst }: Source,
  given: string | undefined,
): { readonly sort: Sort; readonly descending: boolean } => {
  const name = given ?? `${isNewestFirst ? '-' : ''}createdAt`;
  const sort = sorts.find((each) => each.name === name.replace('-', ''));
  if (!sort) throw new RangeError(`There is no order ${name}`);
  return { sort, descending: name.startsWith('-') };
};

/** The REST parameter of the text search. */
const WORDS = 'q';

/** The values asked for, by the names of filters. */
export const askedFilter = ({ filters }: Source, asked: Asked): RowFilter =>
  Object.fromEntries(
    filters.flatMap(({ name, by }) => {
      const value = asked[by === 'words' ? WORDS : name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** A page of a list of one kind, at any path. */
export const readKindList = (
  { domain, pool, source }: { readonly domain: Domain; readonly pool: Pool; readonly source: Source },
  caller: Caller,
  { path, asked, under, create }: Listed,
): Promise<ListAnswer> => {
  const { represent } = representationOf(domain, source).to(caller);
  const { sort, descending } = sortOf(source, asked.sort);
  const filter = askedFilter(source, asked);
  demandSearchable(caller, sort.guard, 'sort');
  for (const { guard, name } of filtersIn(source, filter)) demandSearchable(caller, guard, name);
  const parent = under?.row;
  const named = isUser(source.kind) && asked.q !== undefined ? String(asked.q) : undefined;
  const listing = { pool, source, selection: selectionOfList(source), caller };
  return readList<string, ItemRow & Readonly<Record<string, Date | null>>>({
    path,
    asked,
    order: { column: sort.column, descending },
    read: (walk) => listRows(listing, { filter, named, under, sort, ...stretchOfPage(walk) }),
    represent: parent ? (row) => represent({ ...row, ...parent }) : represent,
    create,
  });
};
