import type { Position, StreamName } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA, PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { StreamCut } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { holdCheckpoint } from '#shared/follower/checkpoint.ts';
import { findParked, type Parked } from '#shared/read-model/parked.ts';
import { park, unpark } from './parked.ts';
import type { Projection } from './prepared.ts';
import { project } from './project.ts';
import { cutAt } from './refused.ts';
import { holdNames, useReadModel } from './schema.ts';
import { restartViewStreams } from './views.ts';

export type Mending = Projection & { readonly pool: Pool; readonly eventLog: EventLog };

/** Records, in the transaction of the retry, the event that parks the aggregate now. */
export type RecordMended = (connection: Connection, parked: Parked | undefined) => Promise<void>;

const NOT_RECORDED: RecordMended = async () => {};

/**
 * Applies a parked aggregate again, from its first event on. Returns the event that parks it this time, if
 * any does.
 */
export const retry = (
  mending: Mending,
  stream: StreamName,
  record = NOT_RECORDED,
): Promise<Parked | undefined> =>
  whileProjectorStands(mending, async (connection, position) => {
    if (!(await findParked(connection, stream))) throw notParked(stream);
    const parked = await applyAgain(connection, mending, { stream, upTo: position });
    await record(connection, parked);
    return parked;
  });

export const notParked = (stream: StreamName): StartRefused =>
  new StartRefused(`${stream} is not parked: “projection parked” lists those that are.`);

/** An operator’s process that hangs in the middle must not block the projector for ever. */
const PAUSE_MAX_MS = 20_000;
/** The projector itself lets go sooner. */
const PROJECTOR_MAX_MS = 10_000;

/**
 * Works on the live read model in a transaction that the running projector waits for, given the projector’s
 * position.
 */
export const whileProjectorStands = <Result>(
  { pool, eventLog, tables }: Mending,
  work: (connection: Connection, position: Position) => Promise<Result>,
): Promise<Result> =>
  inTransaction(pool, async (connection) => {
    await connection.query(
      `set local idle_in_transaction_session_timeout = ${PAUSE_MAX_MS}; set local lock_timeout = ${PROJECTOR_MAX_MS}`,
    );
    const checkpoint = await holdCheckpoint(connection, PROJECTOR);
    if (!checkpoint)
      throw new StartRefused('The read model is empty: the projector has not applied any event yet.');
    if (checkpoint.log !== eventLog.identity) {
      throw new StartRefused(
        `The read model follows the event log ${checkpoint.log}, and EVENT_LOG_URL names ${eventLog.identity}: set it to the right one.`,
      );
    }
    await holdNames(connection);
    await useReadModel(connection, LIVE_SCHEMA);
    const result = await work(connection, checkpoint.position);
    await restartViewStreams(connection, tables, checkpoint.position);
    return result;
  });

/**
 * Replays a parked stream into the read model that comes first in the search path, up to its position;
 * whoever applies later events applies the rest. Returns the event that parks it this time.
 */
export const applyAgain = async (
  connection: Connection,
  { eventLog, ...projection }: Omit<Mending, 'pool'>,
  { stream, upTo }: { readonly stream: StreamName; readonly upTo: Position },
): Promise<Parked | undefined> => {
  const since = await unpark(connection, stream);
  const parked = await applyAll(connection, { eventLog, ...projection }, { stream, upTo }).catch(
    async (error: unknown) => {
      if (!(error instanceof StreamCut)) throw error;
      const cut = cutAt(error, upTo);
      await park(connection, projection.tables, [cut]);
      return cut;
    },
  );
  if (parked)
    await connection.query('update parked set parked_at = coalesce($2, parked_at) where stream = $1', [
      stream,
      since,
    ]);
  return parked;
};

const applyAll = async (
  connection: Connection,
  { eventLog, ...projection }: Omit<Mending, 'pool'>,
  { stream, upTo }: { readonly stream: StreamName; readonly upTo: Position },
): Promise<Parked | undefined> => {
  for await (const page of eventLog.read(stream)) {
    const [parked] = await project(
      connection,
      projection,
      page.filter(({ position }) => position <= upTo),
    );
    if (parked) return parked;
  }
  return undefined;
};
