/** A table of the read model: its columns with their SQL types, `id` and `version` among them. */
export type Table<Column extends string = string> = {
  readonly name: string;
  /** The kind of aggregate whose states its rows are. */
  readonly kind: string;
  readonly columns: Readonly<Record<Column | 'id' | 'version', string>>;
  /** The column of the parent; null if rows are never deleted. */
  readonly parent: Column | null;
  /** The columns with personal data: a digest has the seal of the event that set them instead. */
  readonly personal: readonly Column[];
  /** The column with the person of the personal columns; null if there are none. */
  readonly person: Column | 'id' | null;
};

export type Row<Column extends string = string> = Readonly<Record<Column | 'id' | 'version', unknown>>;

/** The effect of an event on one row. */
export type Change<Column extends string = string> =
  | { readonly kind: 'put'; readonly row: Row<Column> }
  | {
      readonly kind: 'patch';
      readonly row: Partial<Row<Column>> & { readonly id: number; readonly version: number };
    }
  | { readonly kind: 'drop'; readonly row: { readonly id: number; readonly version: number } };

/** The effect of an event on the items of a list; on all of them if their aggregate begins or ends. */
export type ItemChange = Change | { readonly kind: 'clear'; readonly row: Row };

/** Combines two changes of one row. */
export const combine = <Column extends string>(
  earlier: Change<Column>,
  later: Change<Column>,
): Change<Column> => {
  if (later.kind !== 'patch') return later;
  // A deleted row cannot change.
  if (earlier.kind === 'drop')
    return { kind: 'drop', row: { id: earlier.row.id, version: later.row.version } };
  return { kind: earlier.kind, row: { ...earlier.row, ...later.row } } as Change<Column>;
};

/**
 * A digest of the personal fields that an event sets, if it sets any: it reveals nothing about them, even to
 * the holder of the key.
 */
export const sealOf = ({ seal }: { readonly seal?: string }): { readonly seal?: string } =>
  seal === undefined ? {} : { seal };
