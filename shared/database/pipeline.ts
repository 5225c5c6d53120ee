import type pg from 'pg';
import { ServerSilent } from './failures.ts';
import type { Connection } from './pool.ts';
import {
  type Column,
  columnsOf,
  type Description,
  type Fields,
  prepareValue,
  rowOf,
  type Wire,
} from './prepared-read.ts';
import { isThroughPooler } from './session.ts';

export type Statement = {
  readonly text: string;
  readonly name?: string;
  readonly values?: readonly unknown[];
};
export type Answer = {
  readonly rows: readonly Record<string, unknown>[];
  readonly rowCount: number;
  /** The server’s word for what it has done. */
  readonly command: string;
};

/** A connection in a transaction in which others write at the same time: they send together. */
export abstract class Joint {
  /** A refused statement fails all who write, and each then does its work again alone. */
  abstract readonly isShared: boolean;
  abstract send(statements: readonly Statement[]): Promise<readonly Answer[]>;
  abstract sendLast(statements: readonly Statement[]): void;

  /** The driver has nine forms of it; transactions use two. */
  query(...given: unknown[]): never {
    const [asked, values] = given as [string | Statement, unknown[]?];
    if (given.some((each) => typeof each === 'function') || (typeof asked === 'object' && 'submit' in asked))
      throw new TypeError('A joint transaction takes a text or a statement, and returns a promise');
    const statement = typeof asked === 'string' ? { text: asked } : asked;
    const sent = this.send([values === undefined ? statement : { ...statement, values }]);
    return sent.then(([answer]) => answer) as never;
  }
}

/** Sends statements with the commit, in the transaction of a follower, and at once in any other. */
export const sendLast = async (connection: Connection, statements: readonly Statement[]): Promise<void> => {
  if (connection instanceof Joint) connection.sendLast(statements);
  else await sendPipelined(connection, statements);
};

/** Whether a statement that is refused fails the work of others too. */
export const isShared = (connection: Connection): boolean =>
  connection instanceof Joint && connection.isShared;

/**
 * Sends several statements at once, which costs one round trip. The server runs them in order, and none after
 * a failed one, whose failure is thrown. Through a pooler they are sent one after the other; outside of a
 * transaction, those before the failure then stay.
 */
export const sendPipelined = async (
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly Answer[]> => {
  if (statements.length === 0) return [];
  if (connection instanceof Joint) return connection.send(statements);
  return isThroughPooler(connection)
    ? sendInTurn(connection, statements)
    : new Pipeline(statements).runOn(connection);
};

const sendInTurn = async (
  connection: Connection,
  statements: readonly Statement[],
): Promise<readonly Answer[]> => {
  const answers: Answer[] = [];
  for (const { values = [], ...statement } of statements) {
    const { rows, rowCount, command } = await connection.query({ ...statement, values: [...values] });
    answers.push({ rows, rowCount: rowCount ?? 0, command });
  }
  return answers;
};

type Limited = { readonly connectionParameters: { readonly query_timeout?: number | string | false } };

/**
 * The driver sends a `Sync` after each statement. With a single one at the end, the server skips all
 * statements after a failure.
 */
class Pipeline {
  /** Set by the driver, and replaced if the driver stops waiting. */
  callback: ((error: Error | null, answers?: readonly Answer[]) => void) | undefined = undefined;
  /** Instead of the driver’s timeout, which nothing prolongs. */
  readonly query_timeout = TIMER_MAX_MS;
  readonly #statements: readonly Statement[];
  readonly #answers: Answer[] = [];
  #columns: readonly Column[] = [];
  #rows: Record<string, unknown>[] = [];
  #failure: Error | undefined;
  /** The server responds when all are done. Until then, `goesOn` says that it works. */
  #silence: NodeJS.Timeout | undefined;

  constructor(statements: readonly Statement[]) {
    this.#statements = statements;
  }

  /** Name of the statement whose response is being read: the driver records prepared statements by it. */
  get name(): string | undefined {
    return this.#statements[this.#answers.length]?.name;
  }
  get text(): string | undefined {
    return this.#statements[this.#answers.length]?.text;
  }

  runOn(connection: Connection): Promise<readonly Answer[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
    const { query_timeout: answerWithinMs } = (connection as unknown as Limited).connectionParameters;
    this.callback = (error, answers) => {
      clearTimeout(this.#silence);
      this.#silence = undefined;
      if (answers === undefined) reject(error);
      else resolve(answers);
    };
    connection.query(this);
    if (answerWithinMs)
      this.#silence = setTimeout(() => this.handleError(new ServerSilent()), Number(answerWithinMs));
    return promise;
  }

  /** Called when the server says that it works on the statements: each of them may take its time. */
  goesOn(): void {
    this.#silence?.refresh();
  }

  submit(given: pg.Connection): Error | null {
    try {
      // Before anything is sent: a value that cannot be written throws.
      this.#send(
        given as Wire,
        this.#statements.map(({ values = [] }) => values.map(prepareValue)),
      );
      return null;
    } catch (error) {
      return error as Error;
    }
  }

  #send(connection: Wire, values: readonly (readonly unknown[])[]): void {
    const parsed = new Set<string>();
    connection.stream.cork();
    try {
      for (const [index, { name = '', text }] of this.#statements.entries()) {
        if (name === '' || (connection.parsedStatements[name] === undefined && !parsed.has(name)))
          connection.parse({ name, text });
        parsed.add(name);
        connection.bind({ statement: name, values: values[index] ?? [], valueMapper: (value) => value });
        connection.describe({ type: 'P' });
        connection.execute({});
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription({ fields }: Description): void {
    this.#columns = columnsOf(fields);
  }

  handleDataRow({ fields }: { readonly fields: Fields }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#rows.push(rowOf(this.#columns, fields));
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [command = ''] = text.split(' ');
    this.#answers.push({ rows: this.#rows, rowCount: Number(COUNT.exec(text)?.[0] ?? 0), command });
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback?.(null, this.#answers);
    else this.callback?.(this.#failure);
  }

  handleError(error: Error): void {
    this.callback?.(this.#failure ?? error);
  }
}

/** The longest time that a timer takes. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** At the end of a command tag, as in `INSERT 0 1`. */
const COUNT = /\d+$/;
