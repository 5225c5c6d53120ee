import type { StreamName, Version } from '#kernel/base/brands.ts';
import { hasOurFields } from '#kernel/base/events/metadata.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec } from './codec.ts';
import { ForeignRecord } from './errors.ts';

/**
 * A codec that omits foreign records which an operator has skipped (`projection release`): nobody has decided
 * them, so decisions need not know them. Events of ours are never omitted, even if they were skipped.
 */
export const createReleasedCodec = (codec: Codec, pool: Pick<Pool, 'query'>): Codec => ({
  ...codec,
  decodeAll: (recorded) =>
    codec.decodeAll(recorded).catch(async (error: unknown) => {
      if (!(error instanceof ForeignRecord)) throw error;
      const foreign = recorded.filter(({ metadata }) => !hasOurFields(metadata));
      const skipped = await readSkipped(pool, new Set(foreign.map(({ stream }) => stream)));
      if (!foreign.every((event) => skipped.has(nameOf(event)))) throw error;
      return codec.decodeAll(recorded.filter(({ metadata }) => hasOurFields(metadata)));
    }),
});

type Named = { readonly stream: StreamName; readonly version: Version };

const nameOf = ({ stream, version }: Pick<RecordedEvent, 'stream' | 'version'>): string =>
  `${stream}@${version}`;

const UNDEFINED_TABLE = '42P01';

/** The projector makes the table, which may start later. */
const readSkipped = async (
  pool: Pick<Pool, 'query'>,
  streams: ReadonlySet<StreamName>,
): Promise<ReadonlySet<string>> => {
  const { rows } = await pool
    .query<Named>('select stream, version from public.projection_skip where stream = any($1)', [[...streams]])
    .catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE) return { rows: [] };
      throw error;
    });
  return new Set(rows.map(nameOf));
};
