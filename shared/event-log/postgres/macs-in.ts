import type pg from 'pg';
import type { Position } from '#kernel/base/brands.ts';
import { hasOurFields } from '#kernel/base/events/metadata.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { OpenedLog } from '#shared/authentic-events/opened-log.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { readAfter, readHead, readSome } from './read.ts';
import { withRetries } from './retry.ts';

/** Which events of the log have MACs. Earlier releases do not see the column. */
export const macsIn = (pool: pg.Pool, clock: Clock): Omit<OpenedLog, 'identity'> => ({
  showsMacs: false,
  head: () => readHead(pool),
  hasMacs: () => hasMacs(pool, clock),
  hasBareWithin: (ms) => hasBareWithin(pool, ms),
  page: (after, authentic) => readAfter({ pool, authentic }, after),
  // Somebody may have changed its stream and version since.
  async *readAgain({ position }, authentic) {
    yield await withRetries(() => readSome({ pool, authentic }, (position - 1) as Position, 1), clock);
  },
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

/**
 * Looks back, in pages, until a whole page is older. The server’s clock has set the times, so that one far ahead of it
 * is a forged one, and no reason to wait.
 */
const hasBareWithin = async (pool: pg.Pool, withinMs: number): Promise<boolean> => {
  for (let before = END; ; ) {
    const { rows } = await pool.query<LatePage>(LATE_BEFORE, [before, withinMs]);
    const [page] = rows;
    if (page === undefined || page.first === null || !page.isLate) return false;
    if (page.hasBare && (await hasOurs(pool, { before, from: page.first, withinMs }))) return true;
    before = page.first;
  }
};

type LatePage = { readonly isLate: boolean; readonly hasBare: boolean; readonly first: string | null };

const IS_LATE = `recorded_at between now() - $2 * interval '1 ms' and now() + $2 * interval '1 ms'`;

const LATE_BEFORE = `select bool_or(is_late) as "isLate", bool_or(is_late and mac is null) as "hasBare", min(position)::text as first
  from (
    select position, mac, ${IS_LATE} as is_late
    from event_log.event where position < $1 order by position desc limit ${READ_AT_ONCE_MAX}
  ) page`;

const METADATA_AT_ONCE_MAX = 100;

type Part = { readonly before: string; readonly from: string; readonly withinMs: number };

/** Whether a late event without a MAC is not a record of somebody else, who may go on for ever. */
const hasOurs = async (pool: pg.Pool, { before, from, withinMs }: Part): Promise<boolean> => {
  for (let last = before; ; ) {
    const { rows } = await pool.query<Bare>(BARE_BEFORE, [last, withinMs, from]);
    if (rows.some(({ metadata }) => isOurs(JSON.parse(metadata)))) return true;
    const end = rows.at(-1);
    if (end === undefined) return false;
    last = end.position;
  }
};

type Bare = { readonly position: string; readonly metadata: string };

const BARE_BEFORE = `select position::text, metadata::text
  from event_log.event where position < $1 and position >= $3 and mac is null and ${IS_LATE}
  order by event.position desc limit ${METADATA_AT_ONCE_MAX}`;

const isOurs = (metadata: unknown): boolean =>
  typeof metadata === 'object' && metadata !== null && hasOurFields(metadata as JsonObject);
