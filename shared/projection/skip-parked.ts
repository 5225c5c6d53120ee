import { StartRefused } from '#kernel/base/start-refused.ts';
import { findCut } from '#shared/event-log/find-cut.ts';
import { findParked, type Parked } from '#shared/read-model/parked.ts';
import { applyAgain, type Mending, notParked, type RecordMended, whileProjectorStands } from './retry.ts';

/**
 * Skips the event that parks an aggregate in every projection from now on, and applies the others. The caller
 * names the event, because it may have changed since. Returns the event that parks the aggregate next, if one
 * does.
 */
export const skipParked = (
  mending: Mending,
  { stream, version }: Pick<Parked, 'stream' | 'version'>,
  record?: RecordMended,
): Promise<Parked | undefined> =>
  whileProjectorStands(mending, async (connection, upTo) => {
    const parked = await findParked(connection, stream);
    if (!parked) throw notParked(stream);
    if (parked.version !== version) {
      throw new StartRefused(
        `${stream} is now parked at version ${parked.version}, no longer at ${version}: check it again.`,
      );
    }
    await demandWhole(mending, stream);
    await connection.query(
      'insert into public.projection_skip (stream, version, position, reason) values ($1, $2, $3, $4) on conflict do nothing',
      [stream, version, parked.position, parked.reason],
    );
    const next = await applyAgain(connection, mending, { stream, upTo });
    await record?.(connection, next);
    return next;
  });

/** Of a stream that was cut, nobody knows the events that are left to apply. */
const demandWhole = async (
  { eventLog }: Pick<Mending, 'eventLog'>,
  stream: Parked['stream'],
): Promise<void> => {
  const cut = await findCut(eventLog, stream);
  if (cut)
    throw new StartRefused(
      `No event of ${stream} can be skipped (${cut.message}): restore the stream, then run “projection retry ${stream}”.`,
    );
};
