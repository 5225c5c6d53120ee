import { randomUUID } from 'node:crypto';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { REQUEST_RUNS_MAX_MS } from '#shared/events/reservation.ts';
import type { RecordSeal } from './seal-record.ts';

/** The response to a write, as it is repeated. */
export type Written = {
  readonly status: 200 | 201 | 204;
  readonly location?: string;
  readonly entityTag?: string;
  /** JSON; absent with 204. */
  readonly text?: string;
};

/**
 * Stores the response in the transaction of the write, so that after a crash both are there or neither. A write that
 * has the same effect and response if it is executed again does not call it.
 */
export type Settle = (connection: Connection, written: Written) => Promise<void>;

/** Settles with the response to the result of a write. */
export const settling =
  <Result>(settle: Settle, answer: (result: Result) => Written): SettleResult<Result> =>
  (connection, result) =>
    settle(connection, answer(result));

/** A write with a result calls this in its transaction. */
export type SettleResult<Result> = (connection: Connection, result: Result) => Promise<void>;

type KeyedWrite = {
  /** The owner of the key: equal keys of different owners are unrelated. */
  readonly owner: string;
  readonly key: string;
  /** The content of the request; the same key with other content is refused. */
  readonly content: string;
};

/** Executes a write of the authorization server once per key: a repeated request gets the first response. */
export type KeyedWrites = (
  write: KeyedWrite,
  execute: (settle: Settle) => Promise<Written>,
) => Promise<Written>;

const KEPT_S = 86_400;
const KIND = 'keyed-write';

type Attempt = { readonly digest: Buffer; readonly content: Buffer; readonly attempt: string };

export const createKeyedWrites =
  ({ pool, seal }: { readonly pool: Pool; readonly seal: RecordSeal }): KeyedWrites =>
  async ({ owner, key, content }, execute) => {
    const of: Attempt = {
      digest: seal.hash(KIND, JSON.stringify([owner, key])),
      content: seal.hash(`${KIND} content`, content),
      attempt: randomUUID(),
    };
    if (!(await begin(pool, of))) return answerAgain(pool, seal, of);
    const settle = async (database: Pick<Pool, 'query'>, written: Written): Promise<void> => {
      // Another process took this request for dead and executes it.
      if (!(await complete(database, of, seal.seal(KIND, of.digest, written))))
        throw new Rejection('idempotency_key_in_use');
    };
    let isSettled = false;
    try {
      const written = await execute(async (connection, response) => {
        await settle(connection, response);
        isSettled = true;
      });
      if (!isSettled) await settle(pool, written);
      return written;
    } catch (error) {
      // A write that was not committed leaves its key free. If that fails too, the key is in use for a moment.
      await release(pool, of).catch(() => undefined);
      throw error;
    }
  };

const answerAgain = async (pool: Pool, seal: RecordSeal, { digest, content }: Attempt): Promise<Written> => {
  const { rows } = await pool.query<{ isSame: boolean; sealed: Buffer | null }>(
    'select content = $2 as "isSame", sealed from auth.keyed_write where digest = $1',
    [digest, content],
  );
  const [known] = rows;
  if (known?.isSame === false) throw new Rejection('idempotency_key_reused');
  if (known === undefined || known.sealed === null) throw new Rejection('idempotency_key_in_use');
  return seal.unseal(KIND, digest, known.sealed) as Written;
};

/** Returns whether this request is to be executed: its key is new, has expired, or was left by a crash. */
const begin = async (pool: Pool, { digest, content, attempt }: Attempt): Promise<boolean> => {
  const { rowCount } = await pool.query(
    `insert into auth.keyed_write as known (digest, content, attempt, expires_at)
     values ($1, $2, $3, now() + $4 * interval '1 second')
     on conflict (digest) do update
       set content = excluded.content, attempt = excluded.attempt, started_at = now(), sealed = null,
         expires_at = excluded.expires_at
       where known.expires_at <= now()
         or (known.sealed is null and known.content = excluded.content
           and known.started_at < now() - $5 * interval '1 millisecond')`,
    [digest, content, attempt, KEPT_S, REQUEST_RUNS_MAX_MS],
  );
  return rowCount === 1;
};

const complete = async (
  database: Pick<Pool, 'query'>,
  { digest, attempt }: Attempt,
  sealed: Buffer,
): Promise<boolean> => {
  const { rowCount } = await database.query(
    'update auth.keyed_write set sealed = $3 where digest = $1 and attempt = $2 and sealed is null',
    [digest, attempt, sealed],
  );
  return rowCount === 1;
};

const release = async (pool: Pool, { digest, attempt }: Attempt): Promise<void> => {
  await pool.query('delete from auth.keyed_write where digest = $1 and attempt = $2 and sealed is null', [
    digest,
    attempt,
  ]);
};
