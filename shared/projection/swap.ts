import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import { findCut } from '#shared/event-log/find-cut.ts';
import { CUT, type Parked } from '#shared/read-model/parked.ts';
import { read, Stopped, type Work } from './catch-up.ts';
import { park } from './parked.ts';
import { projectPrepared } from './project.ts';
import { applyAgain, type Mending, whileProjectorStands } from './retry.ts';
import { useReadModel } from './schema.ts';
import { exchange, type Held, hold } from './versions.ts';

/**
 * Brings a version to exactly the position of the live one, while that does not move, and makes it live.
 * Readers notice nothing: names of tables change atomically, and PostgreSQL plans their statements again. The
 * projector waits, and continues.
 * @param since when the build of the version began; events that operators skipped later are checked again
 */
export const swapIn = (work: Work, version: Held, since: Date): Promise<Position> =>
  whileProjectorStands(work, async (connection, upTo) => {
    const after = await hold(connection, version, 'update');
    await useReadModel(connection, version.schema);
    for await (const { prepared } of read(work, { after, upTo }))
      await projectPrepared(connection, work.tables, prepared);
    const isStillCut = async (stream: StreamName): Promise<boolean> =>
      (await findCut(work.eventLog, stream)) !== undefined;
    await followOperators(connection, work, { version, upTo, since, isStillCut });
    if (work.signal.aborted) throw new Stopped();
    await exchange(connection, version, upTo);
    return upTo;
  });

type Following = {
  readonly version: Pick<Held, 'schema'>;
  readonly upTo: Position;
  readonly since: Date;
  /** By default, a stream that was cut once counts as cut until its aggregate is retried. */
  isStillCut?(stream: StreamName): Promise<boolean>;
};

/**
 * An aggregate that is parked here and not there was retried or released there, perhaps after this version
 * had applied it. Returns those aggregates. One whose stream was cut stays parked: the log may still show its
 * events among all others.
 */
export const followOperators = async (
  connection: Connection,
  work: Omit<Mending, 'pool'>,
  { version, upTo, since, isStillCut = async () => true }: Following,
): Promise<readonly StreamName[]> => {
  const { rows: parked } = await connection.query<{ stream: StreamName }>(
    `select stream from ${version.schema}.parked where stream not in (select stream from ${LIVE_SCHEMA}.parked)`,
  );
  const { rows: leftOut } = await connection.query<Parked>(
    `select distinct on (stream) stream, version, position, 'left out' as type, reason from public.projection_skip
     where at >= $1 and stream not in (select stream from ${version.schema}.parked)`,
    [since],
  );
  await park(connection, work.tables, leftOut);
  const streams = [...parked, ...leftOut].map(({ stream }) => stream);
  for (const stream of streams) await applyAgain(connection, work, { stream, upTo });
  for (const cut of await cutIn(connection, version))
    if (await isStillCut(cut.stream)) await park(connection, work.tables, [cut]);
  return streams;
};

/** The aggregates whose streams were cut, and that only the live version has parked. */
const cutIn = async (
  connection: Connection,
  { schema }: Following['version'],
): Promise<readonly Parked[]> => {
  const { rows } = await connection.query<Parked>(
    `select stream, version, position, type, reason from ${LIVE_SCHEMA}.parked
     where starts_with(reason, $1) and stream not in (select stream from ${schema}.parked)`,
    [CUT],
  );
  return rows;
};
