import { column } from '../registry/names.ts';
import type { ViewInfo } from '../registry/registry.ts';
import { keyColumnsOf } from './shares.ts';

/** The table of a view: a row for each key under which something is counted. */
export type ViewTable = {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Nothing personal is in a view. */
  readonly personal: readonly never[];
  readonly keys: readonly string[];
  readonly numbers: readonly string[];
  readonly latest: Readonly<Record<string, string>>;
};

/** How many aggregates have a share in a row: with none of them it goes. */
export const SHARES = 'shares';
/**
 * Beside its columns: where in the log a row changed last, for those who follow the view. It is in no digest.
 */
export const CHANGED = 'changed_position';

export const viewTableOf = (view: ViewInfo): ViewTable => {
  const keys = keyColumnsOf(view);
  const values = Object.entries(view.values).map(([name, { kind, def }]) => ({
    kind,
    to: column(name, def),
    type: def.column,
  }));
  const numbers = values.filter(({ kind }) => kind !== 'latest').map(({ to }) => to);
  const latest = Object.fromEntries(
    values.filter(({ kind }) => kind === 'latest').map(({ to, type }) => [to, type]),
  );
  return {
    name: view.table,
    columns: {
      ...keys,
      ...Object.fromEntries(numbers.map((each) => [each, 'numeric'])),
      ...latest,
      [SHARES]: 'bigint',
    },
    personal: [],
    keys: Object.keys(keys),
    numbers,
    latest,
  };
};

/** What statements do to rows, and what their triggers see of it. */
export const CHANGES = [
  { operation: 'insert', hasOld: false, hasNew: true },
  { operation: 'update', hasOld: true, hasNew: true },
  { operation: 'delete', hasOld: true, hasNew: false },
] as const;
