import type { Position, StreamName } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import { LIVE_SCHEMA } from '#shared/read-model/read-model.ts';
import { read, Stopped, type Work } from './catch-up.ts';
import { park } from './parked.ts';
import { projectPrepared } from './project.ts';
import { type Mending, takeInAgain, whileProjectorStands } from './retry.ts';
import { useReadModel } from './schema.ts';
import { exchange, type Held, hold } from './versions.ts';

/**
 * Brings a version to exactly where the live one is, while that stands still, and makes it live. Readers notice nothing: names
 * of tables change in one moment, and PostgreSQL plans the statements that name them anew. The projector waits, and goes on.
 * @param since when the version was begun; what operators left out later is looked at again
 */
export const swapIn = (work: Work, version: Held, since: Date): Promise<Position> =>
  whileProjectorStands(work, async (connection, upTo) => {
    const after = await hold(connection, version, 'update');
    await useReadModel(connection, version.schema);
    for await (const { prepared } of read(work, { after, upTo }))
      await projectPrepared(connection, work.tables, prepared);
    await followOperators(connection, work, { version, upTo, since });
    if (work.signal.aborted) throw new Stopped();
    await exchange(connection, version, upTo);
    return upTo;
  });

type Following = { readonly version: Pick<Held, 'schema'>; readonly upTo: Position; readonly since: Date };

/**
 * What is parked here and not there was retried or released there, perhaps after it had been taken in here.
 * Answers with what that was.
 */
export const followOperators = async (
  connection: Connection,
  work: Omit<Mending, 'pool'>,
  { version, upTo, since }: Following,
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
  for (const stream of streams) await takeInAgain(connection, work, { stream, upTo });
  return streams;
};
