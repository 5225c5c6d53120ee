import type { Operation } from '#kernel/base/operation.ts';
import { notFound, Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import { findTexts, rowsAlone, TOO_LONG } from '../../kinds/alone.ts';
import { filtersIn } from '../../kinds/list-rows.ts';
import { countRowsOfEach, listRowsOfEach } from '../../kinds/lists-of-each.ts';
import { type ItemRow as FoundRow, resourceOf } from '../../kinds/rows.ts';
import { type AskedItems, countItems, listItems } from '../../lists/item-rows.ts';
import type { ReadConnections } from '../../rows/searches.ts';
import type { ItemSource } from '../../rows/source.ts';
import { isPresent } from '../../rows/sources.ts';
import { ANSWER_BYTES_MAX, beyondLimit } from '../documents/limits.ts';
import { type ItemRow, type ListOf, type Row, sourceOfType } from './rows.ts';

/** Reads for one request: equal fields that load at the same time share one statement. */
export type Loaders = {
  find(type: string, id: number): Promise<Row | undefined>;
  /** A long text of a row; throws if all texts requested together are too long. */
  text(row: Row, column: string): Promise<string | null>;
  list(of: ListOf, parent: number): Promise<readonly Row[]>;
  /** Null if counting needs too many reads. */
  count(of: ListOf, parent: number): Promise<number | null>;
  /** Items of one list of an aggregate. */
  items(source: ItemSource, of: number, asked: AskedItems): Promise<readonly ItemRow[]>;
  countItems(source: ItemSource, of: number, asked: Pick<AskedItems, 'isWhole' | 'only'>): Promise<number>;
  /** Loads a value for a parent, together with all parents that ask for the same. */
  together<Parent extends number | string, Value>(
    asked: string,
    parent: Parent,
    loadMany: LoadMany<Parent, Value>,
  ): Promise<Value | undefined>;
  /**
   * The facts that rights to the row depend on; undefined for a row that is only a name for others, or about
   * to be deleted.
   */
  resourceOf(row: Row): Promise<Resource | undefined>;
  /** True if the caller may read the row by its id. */
  isReadable(row: Row): Promise<boolean>;
  /** True if the caller has all of these rights to parts of the row. */
  mayRead(row: Row, rights: readonly Operation[]): Promise<boolean>;
};

type LoadMany<Parent, Value> = (parents: readonly Parent[]) => Promise<ReadonlyMap<Parent, Value>>;

export const createLoaders = (
  { domain, pool, searches }: ReadConnections & { readonly domain: Domain },
  caller: Caller,
): Loaders => {
  const together = createTogether();
  const readingOf = ({ type, asked }: ListOf) => {
    const source = sourceOfType(domain, type);
    const isSearch = filtersIn(source, asked.filter).some(({ by }) => by === 'words');
    const { selection } = rowsAlone(domain)(source);
    return { pool: isSearch ? searches.pool : pool, source, selection, caller };
  };
  const find: Loaders['find'] = async (type, id) => {
    const { find: findRows } = rowsAlone(domain)(sourceOfType(domain, type));
    const row = await together(`find ${type}`, id, (ids: readonly number[]) => findRows(pool, ids));
    return row && typed(type, row);
  };
  const readResource: Loaders['resourceOf'] = (row) => resourceOfRow(domain, row, find);
  let bytesLeft = ANSWER_BYTES_MAX;
  return {
    find,
    async text({ __typename, id }, column) {
      const source = sourceOfType(domain, __typename);
      const text = await together(`${__typename} ${column}`, id, (ids: readonly number[]) =>
        findTexts(pool, source, { column, ids, bytesMax: ANSWER_BYTES_MAX }),
      );
      // The target was deleted after the item itself was read.
      if (text === undefined) throw new Rejection(notFound(source.kind.name));
      // The answer contains it as often as it is requested.
      bytesLeft -= text === TOO_LONG ? Infinity : (text?.length ?? 0);
      if (text === TOO_LONG || bytesLeft < 0)
        throw beyondLimit('answer_too_large', { max: ANSWER_BYTES_MAX });
      return text;
    },
    async list(of, parent) {
      const { type, parent: column, asked } = of;
      const rows = await together(`list ${JSON.stringify(of)}`, parent, (ids: readonly number[]) =>
        listRowsOfEach<FoundRow>(readingOf(of), asked, { column, ids }),
      );
      return (rows ?? []).map((row) => typed(type, row));
    },
    async count(of, parent) {
      const { parent: column, asked } = of;
      const count = await together(`count ${JSON.stringify(of)}`, parent, (ids: readonly number[]) =>
        countRowsOfEach(readingOf(of), asked, { column, ids }),
      );
      return count ?? 0;
    },
    async items(source, of, asked) {
      const found = together(`items ${askedOf(source, asked)}`, of, (all: readonly number[]) =>
        listItems(pool, source, { of: all, asked }),
      );
      return (await found) ?? [];
    },
    countItems: async (source, of, asked) =>
      (await together(`count ${askedOf(source, asked)}`, of, (all: readonly number[]) =>
        countItems(pool, source, { of: all, ...asked }),
      )) ?? 0,
    together,
    resourceOf: readResource,
    async mayRead(row, rights) {
      const resource = await readResource(row);
      return resource !== undefined && rights.every((right) => may(caller, right, resource));
    },
    async isReadable(row) {
      const resource = await readResource(row);
      return resource !== undefined && may(caller, sourceOfType(domain, row.__typename).right, resource);
    },
  };
};

const typed = (type: string, row: FoundRow): Row => ({ ...row, __typename: type });

const createTogether = (): Loaders['together'] => {
  const loads = new Map<string, (parent: never) => Promise<unknown>>();
  return <Parent extends number | string, Value>(
    asked: string,
    parent: Parent,
    loadMany: LoadMany<Parent, Value>,
  ) => {
    // `asked` determines the types of the parents and the values.
    const load =
      (loads.get(asked) as ((parent: Parent) => Promise<Value | undefined>) | undefined) ??
      coalesce(loadMany);
    loads.set(asked, load);
    return load(parent);
  };
};

/** The facts that rights to a row depend on; undefined if the row is only a name for others. */
export const resourceOfRow = async (
  domain: Domain,
  row: Row,
  find: Loaders['find'],
): Promise<Resource | undefined> => {
  const source = sourceOfType(domain, row.__typename);
  if (!isPresent(source, row)) return undefined;
  return resourceOf(source, row, ({ type }, id) => find(type, id));
};

/** A list is read apart in each of its orders. */
const askedOf = ({ table, order, descending }: ItemSource, asked: object): string =>
  JSON.stringify([table, order, descending, asked]);
