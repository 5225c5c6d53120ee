import type { ViewInfo } from '../registry/registry.ts';
import { type Chosen, chosenIn, columnsOfKind, keyColumnsOf, type ShareTable } from './shares.ts';

/** The table of a view: a row for each key with at least one share. */
export type ViewTable = {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Views contain no personal data. */
  readonly personal: readonly never[];
  readonly keys: readonly string[];
  /** The columns that are sums over the shares. */
  readonly summed: readonly string[];
  /** The columns that PostgreSQL computes from two sums. */
  readonly averages: readonly string[];
  /** The values that one share gives. */
  readonly chosen: readonly Chosen[];
};

export const totalOf = (average: string): string => `${average}_sum`;
export const numberOf = (average: string): string => `${average}_count`;
export const averageOf = (average: string, of = (sum: string) => sum): string =>
  `${of(totalOf(average))} / nullif(${of(numberOf(average))}, 0)`;

/** The expressions in SQL by which a share adds to the sums of its row. */
export const additionsOf = ({
  numbers,
  averages,
}: Pick<ShareTable, 'numbers' | 'averages'>): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...numbers.map((each) => [each, each] as const),
    ...averages.flatMap((each) => [
      [totalOf(each), `coalesce(${each}, 0)`] as const,
      [numberOf(each), `(${each} is not null)::integer`] as const,
    ]),
  ]);

/** The number of shares in a row: at zero, the row is deleted. */
export const SHARES = 'shares';
/** The position of a row’s last change, for subscribers of the view. Digests exclude it. */
export const CHANGED = 'changed_position';

export const viewTableOf = (view: ViewInfo): ViewTable => {
  const keys = keyColumnsOf(view);
  const averages = columnsOfKind(view, ['avg']);
  const chosen = chosenIn(view);
  const summed = Object.keys(additionsOf({ numbers: columnsOfKind(view, ['sum']), averages }));
  return {
    name: view.table,
    columns: {
      ...keys,
      ...Object.fromEntries([...summed, ...averages].map((each) => [each, 'numeric'])),
      ...Object.fromEntries(chosen.map(({ column, type }) => [column, type])),
      [SHARES]: 'bigint',
    },
    personal: [],
    keys: Object.keys(keys),
    ...{ summed, averages, chosen },
  };
};

/** The operations of statements on rows, and the transition tables that their triggers see. */
export const CHANGES = [
  { operation: 'insert', hasOld: false, hasNew: true },
  { operation: 'update', hasOld: true, hasNew: true },
  { operation: 'delete', hasOld: true, hasNew: false },
] as const;
