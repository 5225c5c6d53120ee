import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { HOLE } from './objects.ts';
import { literal, parameter, type Sql, sql } from './sql.ts';

const DIGITS = literal('0123456789abcdefghijklmnopqrstuvwxyz');

/** In base 36, as `formatCursor` writes a position. A safe integer has at most eleven such digits. */
const base36 = (
  position: Sql,
): Sql => sql`(select string_agg(substr(${DIGITS}, (${position} / weight % 36)::integer + 1, 1), '' order by weight desc)
  from (select power(36::numeric, place)::bigint as weight from generate_series(0, 10) place) weights where weight = 1 or weight <= ${position})`;

/** As `formatCursor` names the event; an earlier release moves the position alone. */
const mark = sql`case when ${parameter('boolean', ({ namesEvents }) => namesEvents)} and k.event_position = k.position then coalesce('-' || right(k.event::text, 8), '') else '' end`;
const place = sql`left(k.log::text, 8) || '-' || ${base36(sql`k.position`)}`;

/**
 * The position of the read model in the snapshot of the statement, which everything it reads shares: the
 * cursor of the whole answer.
 */
export const logCursorJson = (): Sql =>
  sql`coalesce((select '"' || ${place} || ${mark} || '"' from public.follower_checkpoint k where k.follower = ${literal(PROJECTOR)}), ${literal(HOLE)})`;
