import pg from 'pg';

/** What the server is told of a session before its first statement, by the names of its parameters. */
export type SessionSettings = Readonly<Record<string, string>>;

type Query = Record<string, unknown> & { readonly text: string; readonly name?: string };
type Answer = pg.QueryResult | readonly pg.QueryResult[];
type Callback = (error: Error | null, answer?: Answer) => void;

/**
 * Whether a connection leads to a pooler, which may lend it another session of the server for each
 * transaction.
 */
export const isThroughPooler = (connection: pg.ClientBase): boolean =>
  connection instanceof SessionClient && connection.isThroughPooler;

/**
 * The number by which the other end of a connection knows it: that of the server's process, unless a pooler
 * is in between.
 */
export const processOf = (connection: pg.ClientBase): number =>
  (connection as unknown as { readonly processID: number }).processID;

/**
 * Gives a new connection its settings, by a statement: poolers refuse them in the startup packet. A session
 * of the server that is ours alone keeps them. A pooler gives its clients process numbers of its own; its
 * sessions are lent to others in between, so each transaction brings its settings along.
 */
export const settle = async (connection: pg.ClientBase): Promise<void> => {
  if (connection instanceof SessionClient) await connection.settle();
};

/**
 * What our statements mean and how their answers are written, which depends on what these are: what the
 * server has them set to does not matter.
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
  // Each statement has a limit, with what it waits for.
  lock_timeout: '0',
};

/**
 * An acknowledgement says that a crash loses nothing. What a server does beyond that, as by waiting for a
 * standby, stays.
 */
const DURABLE: SessionSettings = { synchronous_commit: 'on' };

type Settled = { readonly isOurs: boolean; readonly mayLose: boolean };

const SETTLE = `
  with given as (
    select name, value from jsonb_each_text($2) as setting (name, value)
    union all select 'synchronous_commit', 'on' where current_setting('synchronous_commit') = 'off'
  )
  select pg_backend_pid() = $1 as "isOurs", current_setting('synchronous_commit') = 'off' as "mayLose",
    (select count(set_config(name, value, false)) from given where pg_backend_pid() = $1)`;

/** The class of connections with these settings beside ours, which the pool makes itself. */
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
    const { rows } = (await super.query(SETTLE, [
      processOf(this),
      JSON.stringify(this.settings),
    ])) as pg.QueryResult<Settled>;
    if (rows[0]?.isOurs) return;
    const settings = { ...this.settings, ...(rows[0]?.mayLose && DURABLE) };
    this.#setLocally = Object.entries(settings)
      .map(([name, value]) => `;set local ${name} = ${listOf(value)}`)
      .join('');
    this.isThroughPooler = true;
    // Several statements are sent at once from then on, so that the settings cost no round trip.
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
 * The statement's own failure says more than those that follow from it; without one, what could not be
 * committed was not done.
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
