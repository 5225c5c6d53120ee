import { v7 } from 'uuid';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';

export type OperatorCommandKind = 'retry' | 'release' | 'verify';
type OperatorCommandState = 'waiting' | 'running' | 'done' | 'failed';

export type OperatorCommand = {
  readonly id: string;
  readonly kind: OperatorCommandKind;
  readonly stream: StreamName | null;
  readonly version: Version | null;
  readonly by: string;
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly state: OperatorCommandState;
  /** In words, once it is finished. */
  readonly outcome: string | null;
  readonly done: number | null;
  readonly of: number | null;
};

/**
 * A command held by one process: a later holder has a higher attempt, after which this one records nothing
 * more.
 */
export type TakenOperatorCommand = Pick<OperatorCommand, 'id' | 'kind' | 'stream' | 'version' | 'by'> & {
  readonly attempt: number;
};

export type Outcome = {
  readonly state: 'done' | 'failed';
  readonly outcome: string;
  readonly report?: object;
};

/** Another process has taken the command over: the pending write of this one is void. */
export class LostOperatorCommand extends Error {
  constructor(id: string) {
    super(`another process has taken over the operator command ${id}`);
    this.name = 'LostOperatorCommand';
  }
}

type Queryable = Pick<Pool | Connection, 'query'>;

/** The columns of a command, without its report. */
export const OPERATOR_COMMAND_COLUMNS = `id, kind, stream, version, asked_by as by, requested_at as "requestedAt", started_at as "startedAt",
  finished_at as "finishedAt", state, outcome, progress_done as done, progress_of as of`;

export const findOperatorCommand = async (
  pool: Pool,
  id: string,
): Promise<(OperatorCommand & { readonly report: string | null }) | undefined> => {
  const { rows } = await pool.query<OperatorCommand & { report: string | null }>(
    `select ${OPERATOR_COMMAND_COLUMNS}, report from operations.asked where id = $1`,
    [id],
  );
  return rows[0];
};

/** After this number of attempts the processes are not at fault. */
const ATTEMPTS_MAX = 5;

/**
 * Takes the oldest unfinished command of these kinds. Under the lease no other process holds one, so a
 * running one was left by a process that died, and starts over.
 */
export const takeOperatorCommand = async (
  pool: Pool,
  kinds: readonly OperatorCommandKind[],
): Promise<TakenOperatorCommand | undefined> => {
  await pool.query(
    `update operations.asked set state = 'failed', finished_at = now(), outcome = $3
     where kind = any($1) and state = 'running' and attempt >= $2`,
    [kinds, ATTEMPTS_MAX, `The command was started ${ATTEMPTS_MAX} times and never finished.`],
  );
  const { rows } = await pool.query<TakenOperatorCommand>(
    `update operations.asked set state = 'running', attempt = attempt + 1, started_at = coalesce(started_at, now()),
       progress_done = null, progress_of = null
     where id = (
       select id from operations.asked where kind = any($1) and state in ('waiting', 'running') order by id limit 1 for update skip locked)
     returning id, kind, stream, version, asked_by as by, attempt`,
    [kinds],
  );
  return rows[0];
};

/** Records progress; has no effect if another process holds the command. */
export const recordProgress = async (
  pool: Pool,
  { id, attempt }: TakenOperatorCommand,
  progress: { done: number; of: number | null },
): Promise<void> => {
  await pool.query(
    `update operations.asked set progress_done = $3, progress_of = $4 where id = $1 and attempt = $2 and state = 'running'`,
    [id, attempt, progress.done, progress.of],
  );
};

/** Records the outcome; on the connection of the work, it commits together with that. */
export const finishOperatorCommand = async (
  database: Queryable,
  { id, attempt }: TakenOperatorCommand,
  { state, outcome, report }: Outcome,
): Promise<void> => {
  const { rowCount } = await database.query(
    `update operations.asked set state = $3, outcome = $4, report = $5, finished_at = now()
     where id = $1 and attempt = $2 and state = 'running'`,
    [id, attempt, state, outcome, report === undefined ? null : JSON.stringify(report)],
  );
  if (rowCount !== 1) throw new LostOperatorCommand(id);
};

const KEPT_DAYS = 365;

export const dropOldOperatorCommands = async (pool: Pool): Promise<void> => {
  await pool.query(`delete from operations.asked where finished_at < now() - interval '${KEPT_DAYS} days'`);
};

export type NewOperatorCommand = {
  readonly kind: OperatorCommandKind;
  readonly stream?: StreamName;
  readonly version?: Version;
};

export type OperatorRequest = {
  readonly by: string;
  readonly client: string | null;
  readonly request: string;
  /** Digests of the key and its owner, and of the request; an equal key means the same command. */
  readonly key: { readonly digest: string; readonly content: string } | undefined;
};

/** Nobody requests more than that by hand. */
const OPEN_MAX = 1_000;

/** Serializes requests, so that the count below is exact. There are few of them. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtext('annals orders of operators'))`;

/** Adds a command, unless it exists; `demand` may refuse it. Returns its id. */
export const requestOperatorCommand = (
  pool: Pool,
  command: NewOperatorCommand,
  request: OperatorRequest,
  demand: (connection: Connection) => Promise<void>,
): Promise<string> =>
  inTransaction(pool, async (connection) => {
    await connection.query(ONE_AT_A_TIME);
    const known = request.key && (await findByKey(connection, request.key));
    if (known !== undefined) return known;
    await demandRoom(connection, command);
    await demand(connection);
    const id = v7();
    await connection.query(
      `insert into operations.asked (id, kind, stream, version, asked_by, client, request, key_digest, content_digest)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        ...[
          id,
          command.kind,
          command.stream ?? null,
          command.version ?? null,
          request.by,
          request.client,
          request.request,
        ],
        ...[request.key?.digest ?? null, request.key?.content ?? null],
      ],
    );
    return id;
  });

const findByKey = async (
  connection: Connection,
  { digest, content }: NonNullable<OperatorRequest['key']>,
): Promise<string | undefined> => {
  const { rows } = await connection.query<{ id: string; isSame: boolean }>(
    'select id, content_digest = $2 as "isSame" from operations.asked where key_digest = $1',
    [digest, content],
  );
  if (rows[0]?.isSame === false) throw new Rejection('idempotency_key_reused');
  return rows[0]?.id;
};

/** A verification reads everything: a second one beside it would find the same. */
const demandRoom = async (connection: Connection, { kind }: NewOperatorCommand): Promise<void> => {
  const { rows } = await connection.query<{ open: number; verifying: string | null }>(
    `select count(*) as open, (array_agg(id::text order by id) filter (where kind = 'verify'))[1] as verifying
     from operations.asked where state in ('waiting', 'running')`,
  );
  const [{ open, verifying } = { open: 0, verifying: null }] = rows;
  if (kind === 'verify' && verifying !== null)
    throw new Rejection('verification_under_way', { order: verifying });
  if (open >= OPEN_MAX) throw new Rejection('too_many_orders');
};
