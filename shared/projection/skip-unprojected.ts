import { StartRefused } from '#kernel/base/start-refused.ts';
import { isForeign, type Parked } from '#shared/read-model/parked.ts';
import { decodeAround } from './decode.ts';
import { type Mending, notParked } from './retry.ts';

type Named = Pick<Parked, 'stream' | 'version'>;

/**
 * The unreadable event of a stream outside of the read model, or a foreign record that followers pass over:
 * nothing is parked by it.
 */
export const findUnprojected = async (
  { eventLog, codec, tables }: Pick<Mending, 'eventLog' | 'codec' | 'tables'>,
  { stream, version }: Named,
): Promise<Parked> => {
  const [event] = (await Array.fromAsync(eventLog.read(stream, version, version))).flat();
  if (event === undefined) throw new StartRefused(`${stream} has no version ${version}.`);
  const [damage] = (await decodeAround(codec, [event])).damaged;
  if (damage === undefined)
    throw new StartRefused(
      `Version ${version} of ${stream} can be read: only unreadable events are skipped.`,
    );
  if (tables.isProjected(event) && !isForeign(damage)) throw notParked(stream);
  return damage;
};

export const skipUnprojected = async (
  { pool }: Pick<Mending, 'pool'>,
  { stream, version, position, reason }: Parked,
): Promise<void> => {
  await pool.query(
    'insert into public.projection_skip (stream, version, position, reason) values ($1, $2, $3, $4) on conflict do nothing',
    [stream, version, position, reason],
  );
};
