/** A table of the read model: its columns with their SQL types, `id` and `version` among them. */
export type Table<Column extends string = string> = {
  readonly name: string;
  /** The kind of aggregate whose states its rows are. */
  readonly kind: string;
  readonly columns: Readonly<Record<Column | 'id' | 'version', string>>;
  /** The column of what its rows belong to; none where rows are never deleted. */
  readonly parent: Column | null;
  /** The columns that hold what is personal: a digest has the seal of the event that set them instead. */
  readonly personal: readonly Column[];
  /** The column that says whose the personal columns are; none where nothing is personal. */
  readonly person: Column | 'id' | null;
};

export type Row<Column extends string = string> = Readonly<Record<Column | 'id' | 'version', unknown>>;

/** What an event does to one row. */
export type Change<Column extends string = string> =
  | { readonly kind: 'put'; readonly row: Row<Column> }
  | {
      readonly kind: 'patch';
      readonly row: Partial<Row<Column>> & { readonly id: number; readonly version: number };
    }
  | { readonly kind: 'drop'; readonly row: { readonly id: number; readonly version: number } };

/** What an event does to the items of a list; to all of them where their aggregate begins or ends. */
export type ItemChange = Change | { readonly kind: 'clear'; readonly row: Row };

/** What two changes of one row come to. */
export const combine = <Column extends string>(
  earlier: Change<Column>,
  later: Change<Column>,
): Change<Column> => {
  if (later.kind !== 'patch') return later;
  // What is gone cannot be changed.
  if (earlier.kind === 'drop')
    return { kind: 'drop', row: { id: earlier.row.id, version: later.row.version } };
  return { kind: earlier.kind, row: { ...earlier.row, ...later.row } } as Change<Column>;
};

/**
 * What stands for the personal fields that an event sets, where it sets any: it says nothing of them, also
 * not to whoever has the key.
 */
export const sealOf = ({ seal }: { readonly seal?: string }): { readonly seal?: string } =>
  seal === undefined ? {} : { seal };
