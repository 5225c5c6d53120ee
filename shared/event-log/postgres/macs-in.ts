import type pg from 'pg';
import type { OpenedLog } from '#shared/authentic-events/authentic-events.ts';
import { readHead } from './read.ts';

/** Which events of the log have MACs. Earlier releases do not see the column. */
export const macsIn = (pool: pg.Pool): Omit<OpenedLog, 'identity'> => ({
  showsMacs: false,
  head: () => readHead(pool),
  hasMacs: () => hasMacs(pool),
  newestBare: () => readNewestBare(pool),
});

/** Reads the whole log if there are none. */
const hasMacs = async (pool: pg.Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isFound: boolean }>(
    'select exists (select from event_log.event where mac is not null) as "isFound"',
  );
  return rows[0]?.isFound === true;
};

const readNewestBare = async (pool: pg.Pool): Promise<Date | undefined> => {
  const { rows } = await pool.query<{ at: Date }>(
    'select recorded_at as at from event_log.event where mac is null order by position desc limit 1',
  );
  return rows[0]?.at;
};
