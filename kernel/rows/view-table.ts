import { column } from '../base/names.ts';
import type { ViewInfo } from '../registry/registry.ts';
import { keyColumnsOf } from './shares.ts';

/** The table of a view: a row for each key with at least one share. */
export type ViewTable = {
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
  /** Views contain no personal data. */
  readonly personal: readonly never[];
  readonly keys: readonly string[];
  readonly numbers: readonly string[];
  readonly latest: Readonly<Record<string, string>>;
};

/** The number of shares in a row: at zero, the row is deleted. */
export const SHARES = 'shares';
/** The position of a row’s last change, for subscribers of the view. Digests exclude it. */
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

/** The operations of statements on rows, and the transition tables that their triggers see. */
export const CHANGES = [
  { operation: 'insert', hasOld: false, hasNew: true },
  { operation: 'update', hasOld: true, hasNew: true },
  { operation: 'delete', hasOld: true, hasNew: false },
] as const;
