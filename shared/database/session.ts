import pg from 'pg';

/** The settings of a session, by the names of the server’s parameters. */
export type SessionSettings = Readonly<Record<string, string>>;

type Query = Record<string, unknown> & { readonly text: string; readonly name?: string };
type Answer = pg.QueryResult | readonly pg.QueryResult[];
type Callback = (error: Error | null, answer?: Answer) => void;

/**
 * Whether a connection leads to a pooler, which may lend it another session of the server for each
 * transaction.
 */
export const isThroughPooler = (connection: Pick<pg.ClientBase, 'query'>): boolean =>
  connection instanceof SessionClient && connection.isThroughPooler;

/**
 * The number by which the other end of a connection knows it: that of the server’s process, unless there is a
 * pooler in between.
 */
export const processOf = (connection: pg.ClientBase): number =>
  (connection as unknown as { readonly processID: number }).processID;

/**
 * Sends the settings of a new connection in a statement, because poolers refuse them in the startup packet. A
 * session of our own keeps them. Behind a pooler, which has process numbers of its own and lends sessions to
 * others in between, each transaction sends its settings along.
 */
export const settle = async (connection: pg.ClientBase): Promise<void> => {
  if (connection instanceof SessionClient) await connection.settle();
};

/**
 * The meaning of our statements and the form of their results depend on these parameters, so the server’s own
 * values must not matter.
 */
const OURS: SessionSettings = {
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Each statement has a timeout, which includes waiting for locks.
  lock_timeout: '0',
};

/**
 * An acknowledged write survives a crash, unless a pool asks for another setting. A stricter setting of the
 * server, such as waiting for a standby, stays.
 */
const DURABLE: SessionSettings = { synchronous_commit: 'on' };

type Settled = { readonly isOurs: boolean; readonly mayLose: boolean };

/** Callers wait for it as they wait for the connection. */
const SETTLE_WITHIN_MS = 10_000;

const SETTLE = {
  query_timeout: SETTLE_WITHIN_MS,
  text: `
  with given as (
    select name, value from jsonb_each_text($2::jsonb) as setting (name, value)
    union all select 'synchronous_commit', 'on'
      where current_setting('synchronous_commit') = 'off' and not $2::jsonb ? 'synchronous_commit'
  )
  select pg_backend_pid() = $1 as "isOurs", current_setting('synchronous_commit') = 'off' as "mayLose",
    (select count(set_config(name, value, false)) from given where pg_backend_pid() = $1)`,
};

/** The class of connections with these settings beside ours; the pool instantiates it. */
export const clientWith = (settings: SessionSettings): (new () => pg.ClientBase) =>
  class extends SessionClient {
    protected override readonly settings = { ...OURS, ...settings };
  };

const BEGINS = /^\s*(?:begin|start transaction)[^;]*/i;
const ENDS = /^\s*(?:commit|rollback)\b/i;

abstract class SessionClient extends pg.Client {
  protected abstract readonly settings: SessionSettings;
  isThroughPooler = false;
  #setLocally = '';

  async settle(): Promise<void> {
    const values = [processOf(this), JSON.stringify(this.settings)];
    const { rows } = await super.query<Settled>({ ...SETTLE, values });
    if (rows[0]?.isOurs) return;
    const settings = { ...(rows[0]?.mayLose && DURABLE), ...this.settings };
    this.#setLocally = Object.entries(settings)
      .map(([name, value]) => `;set local ${name} = ${listOf(value)}`)
      .join('');
    this.isThroughPooler = true;
    // Sends several statements at once from then on, so that the settings cost no round trip.
    Object.assign(this, { pipeline: true });
  }

  /** The driver has nine forms of it. */
  override query(...given: unknown[]): never {
    if (!this.isThroughPooler) return super.query(...(given as [string])) as never;
    const send = super.query.bind(this) as unknown as (...sent: unknown[]) => Promise<Answer>;
    const callback = given.find((each) => typeof each === 'function') as Callback | undefined;
    const [query, values] = given.filter((each) => each !== callback) as [string | Query, unknown];
    const answer = this.#askThroughPooler(typeof query === 'string' ? query : unnamed(query), values, send);
    if (callback === undefined) return answer as never;
    answer.then(
      (found) => callback(null, found),
      (error: Error) => callback(error),
    );
    return undefined as never;
  }

  #askThroughPooler(
    query: string | Query,
    values: unknown,
    send: (...sent: unknown[]) => Promise<Answer>,
  ): Promise<Answer> {
    const text = typeof query === 'string' ? query : query.text;
    if (this.getTransactionStatus() !== 'I' || ENDS.test(text)) return send(query, values);
    if (BEGINS.test(text)) return send(text.replace(BEGINS, (begin) => `${begin}${this.#setLocally}`));
    return inOne([send(`begin${this.#setLocally}`), send(query, values), send('commit')]);
  }
}

/** Not by set_config: after a query, the isolation level of a transaction can no longer be chosen. */
const listOf = (value: string): string => value.split(/, */).map(pg.escapeLiteral).join();

/** The next statement may meet another session, which has not prepared it. */
const unnamed = ({ name: _, ...query }: Query): Query => query;

/**
 * The statement’s own failure says more than the later ones; without one, a failed commit means that nothing
 * was done.
 */
const inOne = async ([begun, asked, committed]: readonly [
  Promise<unknown>,
  Promise<Answer>,
  Promise<unknown>,
]): Promise<Answer> => {
  const [beginning, answer, end] = await Promise.allSettled([begun, asked, committed]);
  const failure = [answer, beginning, end].find((each) => each.status === 'rejected');
  if (answer.status === 'rejected' || failure) throw failure?.reason;
  return answer.value;
};
