import pg from 'pg';
import type { Connection } from './pool.ts';
import { typeParser } from './types.ts';

export type Fields = readonly (string | null)[];
export type Description = {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
};
export type Column = { readonly name: string; readonly parse: (text: string) => unknown };
export type Wire = pg.Connection & {
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(bound: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: (value: unknown) => unknown;
  }): void;
  describe(described: { readonly type: 'P' }): void;
  execute(executed: object): void;
  sync(): void;
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Readonly<Record<string, string>>;
};

/** The columns of each prepared statement; PostgreSQL describes them once per connection. */
const described = new WeakMap<Wire, Map<string, readonly Column[]>>();

/** Writes a value as the driver does. */
export const { prepareValue } = (
  pg as unknown as { readonly utils: { prepareValue(value: unknown): unknown } }
).utils;

type Statement = { readonly name: string; readonly text: string; readonly rowMode?: 'array' };

/**
 * A named statement that the driver runs without describing its columns again: the first run on a connection
 * stores them with their parsers, later runs reuse them. Through a pooler it is an ordinary query.
 */
export class PreparedRead<Row> {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode: 'array' | undefined;
  /** Set by the driver, and replaced if the driver stops waiting. */
  callback:
    | ((error: Error | null | undefined, answer?: { readonly rows: readonly Row[] }) => void)
    | undefined = undefined;
  readonly #rows: Row[] = [];
  #columns: readonly Column[] = [];
  #failure: Error | undefined;

  constructor({ name, text, rowMode }: Statement, values: readonly unknown[]) {
    this.name = name;
    this.text = text;
    this.values = [...values];
    this.rowMode = rowMode;
  }

  /** Runs on a given connection; `pool.query` accepts the read itself. */
  runOn(connection: Connection): Promise<readonly Row[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Row[]>();
    this.callback = (error, answer) => (answer === undefined ? reject(error) : resolve(answer.rows));
    connection.query(this);
    return promise;
  }

  submit(given: pg.Connection): Error | null {
    const connection = given as Wire;
    const { name, text, values } = this;
    const columns =
      connection.parsedStatements[name] === text ? described.get(connection)?.get(name) : undefined;
    connection.stream.cork();
    try {
      if (connection.parsedStatements[name] === undefined) connection.parse({ name, text });
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      if (columns === undefined) connection.describe({ type: 'P' });
      else this.#columns = columns;
      connection.execute({});
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
    return null;
  }

  handleRowDescription({ fields }: Description): void {
    this.#columns = columnsOf(fields);
  }

  handleDataRow({ fields }: { readonly fields: Fields }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#rows.push(
        this.rowMode === 'array'
          ? (valuesOf(this.#columns, fields) as Row)
          : (rowOf(this.#columns, fields) as Row),
      );
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete(_message: unknown, connection: Wire): void {
    const known = described.get(connection) ?? new Map<string, readonly Column[]>();
    described.set(connection, known.set(this.name, this.#columns));
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback?.(null, { rows: this.#rows });
    else this.callback?.(this.#failure);
  }

  handleError(error: Error): void {
    this.callback?.(this.#failure ?? error);
  }
}

export const columnsOf = (fields: Description['fields']): readonly Column[] =>
  fields.map(({ name, dataTypeID }) => ({ name, parse: typeParser(dataTypeID) }));

const valuesOf = (columns: readonly Column[], fields: Fields): unknown[] =>
  columns.map(({ parse }, index) => (fields[index] == null ? null : parse(fields[index])));

export const rowOf = (columns: readonly Column[], fields: Fields): Record<string, unknown> => {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    const [column, field] = [columns[index], fields[index]];
    if (column !== undefined) row[column.name] = field == null ? null : column.parse(field);
  }
  return row;
};
