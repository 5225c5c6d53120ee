import type pg from 'pg';
import type { OpenedLog } from '#shared/authentic-events/authentic-events.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { readHead } from './read.ts';
import { withRetries } from './retry.ts';

/** Which events of the log have MACs. Earlier releases do not see the column. */
export const macsIn = (pool: pg.Pool, clock: Clock): Omit<OpenedLog, 'identity'> => ({
  showsMacs: false,
  head: () => readHead(pool),
  hasMacs: () => hasMacs(pool, clock),
  newestBare: () => readNewestBare(pool),
});

/** So few that a statement ends in time on any disk. */
const READ_AT_ONCE_MAX = 20_000;
/** After the last position that there can be. */
const END = '9223372036854775807';

/** Reads the whole log if there are none, in pages: an index over a large log would keep former processes from appending. */
const hasMacs = async (pool: pg.Pool, clock: Clock): Promise<boolean> => {
  for (let before = END; ; ) {
    const { rows } = await withRetries(() => pool.query<Page>(MACS_BEFORE, [before]), clock);
    const [page] = rows;
    if (page?.hasMacs) return true;
    if (page === undefined || page.first === null) return false;
    before = page.first;
  }
};

type Page = { readonly hasMacs: boolean; readonly first: string | null };

const MACS_BEFORE = `select count(mac) > 0 as "hasMacs", min(position)::text as first
  from (select position, mac from event_log.event where position < $1 order by position desc limit ${READ_AT_ONCE_MAX}) page`;

const readNewestBare = async (pool: pg.Pool): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ at: Date }>(
    'select recorded_at as at from event_log.event where mac is null order by position desc limit 1',
  );
  return rows[0]?.at;
};
