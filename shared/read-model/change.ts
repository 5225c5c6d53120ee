/** A table of the read model: its columns with their SQL types, `id` and `version` among them. */
export type Table<Column extends string> = { readonly name: string; readonly columns: Readonly<Record<Column | 'id' | 'version', string>> };

export type Row<Column extends string> = Readonly<Record<Column | 'id' | 'version', unknown>>;

/** What an event does to one row. */
export type Change<Column extends string> =
  | { readonly kind: 'put'; readonly row: Row<Column> }
  | { readonly kind: 'patch'; readonly row: Partial<Row<Column>> & { readonly id: number; readonly version: number } }
  | { readonly kind: 'drop'; readonly row: { readonly id: number; readonly version: number } };

/** What two changes of one row come to. */
export const combine = <Column extends string>(earlier: Change<Column>, later: Change<Column>): Change<Column> => {
  if (later.kind !== 'patch') return later;
  // What is gone cannot be changed.
  if (earlier.kind === 'drop') return { kind: 'drop', row: { id: earlier.row.id, version: later.row.version } };
  return { kind: earlier.kind, row: { ...earlier.row, ...later.row } } as Change<Column>;
};
