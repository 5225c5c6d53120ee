import { linksOfPage, readPage } from '#edge/rest/pages.ts';
import type { ItemAnswer, ListAnswer } from '#edge/rest/reads/answer.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isOfOneShare } from '#kernel/registry/view-of.ts';
import { partIn, rowPath } from '#kernel/rest/views.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { referencesOf } from '../kinds/item-references.ts';
import type { Asked } from '../kinds/list.ts';
import { readerOf } from '../kinds/present-items.ts';
import { listIdentity } from '../lists/cursor.ts';
import type { Reader } from '../rest/read-routes.ts';
import type { Row } from '../rows/sources.ts';
import { formatCursor, positionInCursor } from './cursor.ts';
import { noteOfView } from './notes.ts';
import { type AskedRows, listViewRows, rowPositionOf } from './rows.ts';
import { orderOfView, type ViewSource } from './source.ts';

/** The reads of one view over REST. */
export type ViewReads = {
  list(reader: Pick<Reader, 'caller'>, asked: Asked): Promise<ListAnswer>;
  item(reader: Pick<Reader, 'caller' | 'path'>): Promise<ItemAnswer>;
};

type Reading = { readonly domain: Domain; readonly pool: Pool; readonly source: ViewSource };

export const viewReadsOf = ({ domain, pool, source }: Reading): ViewReads => {
  const { view } = source;
  const joined = referencesOf(domain, source);
  const represent = representing(domain, source);
  const parts = Object.entries(view.key);
  return {
    async list({ caller }, asked) {
      const { limit, after, before, sort = [...source.sorts.keys()][0] ?? '', ...filters } = asked;
      const by = source.sorts.get(sort.replace('-', ''));
      if (by === undefined) throw new RangeError(`There is no order ${sort}`);
      const order = orderOfView(source, sort.replace('-', ''));
      const path = `/${view.path}`;
      const identity = listIdentity({ path, sort, ...filters });
      const which = {
        equal: equalIn(source, filters),
        order,
        isDescending: sort.startsWith('-'),
        present: by.isOptional ? by.name : undefined,
      };
      const page = await readPage<Row, readonly string[]>(
        { limit, after, before },
        {
          parse(cursor) {
            const position = positionInCursor(identity, cursor, order);
            if (position === undefined) throw new HttpProblem('unknown_cursor');
            return position;
          },
          format: (position) => formatCursor(identity, position),
          positionOf: (row) => rowPositionOf(row, order),
          read: (stretch) => listViewRows(pool, source, caller, { asked: { ...which, ...stretch }, joined }),
        },
      );
      const items = page.rows.map((row) => represent(row, caller));
      return { kind: 'list', items, links: linksOfPage(path, asked, page) };
    },
    async item({ caller, path = [] }) {
      const values = parts.map(([, def], index) => partIn(def, path[index] ?? ''));
      const found = values.includes(undefined)
        ? []
        : await listViewRows(pool, source, caller, { asked: oneOf(source, values), joined });
      const [row] = found;
      if (row === undefined) throw new Rejection(notFound(view.name));
      return { kind: 'item', version: undefined, item: represent(row, caller) };
    },
  };
};

/** The filters, by column. */
export const equalIn = (
  { members }: ViewSource,
  filters: Readonly<Record<string, unknown>>,
): AskedRows['equal'] =>
  Object.fromEntries(
    members.flatMap(({ name, column }) => (filters[name] === undefined ? [] : [[column, filters[name]]])),
  );

const oneOf = ({ keys }: ViewSource, values: readonly unknown[]): AskedRows => ({
  equal: Object.fromEntries(keys.map(({ name }, index) => [name, values[index]])),
  ...{
    order: keys,
    isDescending: false,
    isBackward: false,
    present: undefined,
    after: undefined,
    before: undefined,
    rowsMax: 1,
  },
});

/** Contains no time of projection, so it is the same after every rebuild. */
export const representing = (
  domain: Domain,
  { view, keys, members }: ViewSource,
): ((row: Row, caller: Caller) => object) => {
  const noted = noteOfView(domain, view);
  const shown = members.map((member) => readerOf(domain, member));
  const numbers = members.flatMap(({ name, column }) =>
    view.values[name] === undefined || isOfOneShare(view.values[name]) ? [] : [column],
  );
  return (row, caller) => {
    noted?.note(noted.idColumn === undefined ? undefined : Number(row[noted.idColumn]));
    const item: Record<string, unknown> = {};
    const links: Record<string, Link> = {
      self: {
        href: rowPath(
          view,
          keys.map(({ name }) => row[name]),
        ),
      },
    };
    const exact = {
      ...row,
      ...Object.fromEntries(numbers.map((each) => [each, row[each] === null ? null : Number(row[each])])),
    };
    for (const readFor of shown) readFor(caller)(exact, item, links);
    return Object.assign(item, { _links: links });
  };
};
