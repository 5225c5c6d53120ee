import pg from 'pg';
import type { EventId, LogIdentity, Position } from '#kernel/base/brands.ts';
import type { EventLog, Seen } from '../event-log.ts';

const MARKED = `exists (select from event_log.lost_history where log = $1) as "isMarkedLost"`;
const EVENTS = `(select id from event_log.event where position = $2) as seen,
      (select json_build_object('position', position, 'id', id) from event_log.event order by position desc limit 1) as newest`;
const READ_MARK = { name: 'event-log-read-mark', text: `select ${MARKED}, ${EVENTS}` };
/** The name of the present segment begins with the timeline; the control file has it only after a checkpoint. */
const READ_STANDING = {
  name: 'event-log-read-standing',
  text: `select ${MARKED}, ${EVENTS}, (select system_identifier::text from pg_control_system()) as system,
      case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
};

type Row = {
  readonly isMarkedLost: boolean;
  readonly seen: EventId | null;
  readonly newest: Seen | null;
  readonly system?: string;
  readonly timeline?: string | null;
};

/**
 * Whether the log is marked, its newest event, and the server, with one statement. A managed server may not
 * say which it is.
 */
export const createReadStanding = (
  pool: Pick<pg.Pool, 'query'>,
  identity: LogIdentity,
): NonNullable<EventLog['standing']> => {
  let isServerSaid = true;
  const read = async (position: Position | undefined): Promise<Row | undefined> => {
    const statement = isServerSaid ? READ_STANDING : READ_MARK;
    return (await pool.query<Row>({ ...statement, values: [identity, position ?? null] })).rows[0];
  };
  return async (position) => {
    const row = await read(position).catch((error: unknown) => {
      if (!isServerSaid || !(error instanceof pg.DatabaseError) || !isUnsaid(error.code)) throw error;
      isServerSaid = false;
      return read(position);
    });
    const { isMarkedLost = false, seen = null, newest = null, system, timeline } = row ?? {};
    const server = system && timeline ? { system, timeline: Number.parseInt(timeline, 16) } : undefined;
    return { isMarkedLost, server, events: { seen: seen ?? undefined, newest: newest ?? undefined } };
  };
};

/** No such function, not supported, or not for this user. */
const UNSAID: ReadonlySet<string> = new Set(['42883', '0A000', '42501', '55000']);

const isUnsaid = (code: string | undefined): boolean => code !== undefined && UNSAID.has(code);
