import type { Position, StreamName, Version } from '#kernel/base/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { runPrepared } from '../rows/statement.ts';

/**
 * The events of a stream that the projector does not apply: all since it was parked, and the versions that an
 * operator skipped.
 */
export type Exceptions = { readonly parkedSince: Position; readonly skipped: ReadonlySet<Version> };

export type FindExceptions = (stream: StreamName) => Promise<Exceptions>;

const NEVER = Number.MAX_SAFE_INTEGER as Position;
export const NO_EXCEPTIONS: Exceptions = { parkedSince: NEVER, skipped: new Set() };

export const createExceptionsFinder = (pool: Pool): FindExceptions => {
  const find = coalesce<StreamName, Exceptions>((streams) => findExceptions(pool, streams));
  return async (stream) => (await find(stream)) ?? NO_EXCEPTIONS;
};

const findExceptions = async (
  pool: Pool,
  streams: readonly StreamName[],
): Promise<ReadonlyMap<StreamName, Exceptions>> => {
  const rows = await runPrepared<{ stream: StreamName; parked: Position | null; skipped: Version | null }>(
    pool,
    `select stream, position as parked, null::integer as skipped from read_model.parked where stream = any($1)
     union all
     select stream, null, version from public.projection_skip where stream = any($1)`,
    [streams],
  );
  const exceptionsOf = (ofStream: typeof rows): Exceptions => ({
    parkedSince: ofStream.find(({ parked }) => parked !== null)?.parked ?? NEVER,
    skipped: new Set(ofStream.flatMap(({ skipped }) => skipped ?? [])),
  });
  return new Map(
    [...Map.groupBy(rows, ({ stream }) => stream)].map(([stream, ofStream]) => [
      stream,
      exceptionsOf(ofStream),
    ]),
  );
};
