import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { Statement } from '#shared/database/pipeline.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';

/** An event whose time is before that of the event before it in its stream. */
export type WentBack = {
  readonly stream: StreamName;
  readonly version: Version;
  readonly at: Date;
  readonly before: Date;
};

/** Streams whose last times are in memory: a clock that is set back concerns those that are written at the time. */
const STREAMS_MAX = 10_000;
/** A clock that is wrong for hours concerns many events; the first ones say enough. */
const KEPT_MAX = 1_000;
const SHOWN = 10;

type Last = { readonly version: number; readonly at: Date };

/** Finds such events in the log as it is followed. An import claims times, so those are not compared. */
export const createTimesWatch = (
  streamsMax = STREAMS_MAX,
): ((events: readonly RecordedEvent[]) => readonly WentBack[]) => {
  const latest = new Map<string, Last>();
  return (events) => {
    const found: WentBack[] = [];
    for (const event of events) {
      const { stream, version, metadata } = event;
      const known = latest.get(stream);
      latest.delete(stream);
      const at = metadata?.importedAt === undefined ? timeOf(event) : null;
      if (at === null) continue;
      latest.set(stream, { version, at });
      // After a retry, the versions begin again.
      if (known?.version === version - 1 && at < known.at)
        found.push({ stream, version, at, before: known.at });
      const oldest = latest.size > streamsMax ? latest.keys().next().value : undefined;
      if (oldest !== undefined) latest.delete(oldest);
    }
    return found;
  };
};

/** The statements that keep them, none if there are none. */
export const keepingWentBack = (found: readonly WentBack[]): readonly Statement[] =>
  found.length === 0
    ? []
    : [
        {
          text: `insert into clock.went_back (stream, version, at, before)
            select * from unnest($1::text[], $2::integer[], $3::timestamptz[], $4::timestamptz[])
            where (select count(*) from clock.went_back) < ${KEPT_MAX} on conflict do nothing`,
          values: [
            found.map(({ stream }) => stream),
            found.map(({ version }) => version),
            found.map(({ at }) => at),
            found.map(({ before }) => before),
          ],
        },
      ];

export type WentBackReport = { readonly count: number; readonly latest: readonly WentBack[] };

export const readWentBack = async (pool: Pick<Pool, 'query'>): Promise<WentBackReport> => {
  const { rows } = await pool.query<WentBack & { readonly count: number }>(
    `select stream, version, at, before, (count(*) over ())::float8 as count
     from clock.went_back order by at desc, stream, version limit ${SHOWN}`,
  );
  return {
    count: rows[0]?.count ?? 0,
    latest: rows.map(({ stream, version, at, before }) => ({ stream, version, at, before })),
  };
};
