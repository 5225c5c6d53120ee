import pg from 'pg';
import type { LogIdentity } from '#kernel/base/brands.ts';
import type { EventLog } from '../event-log.ts';

const MARKED = `exists (select from event_log.lost_history where log = $1) as "isMarkedLost"`;
const READ_MARK = { name: 'event-log-read-mark', text: `select ${MARKED}` };
/** The name of the present segment begins with the timeline; the control file has it only after a checkpoint. */
const READ_STANDING = {
  name: 'event-log-read-standing',
  text: `select ${MARKED}, (select system_identifier::text from pg_control_system()) as system,
      case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
};

type Row = { readonly isMarkedLost: boolean; readonly system?: string; readonly timeline?: string | null };

/** Whether the log is marked, and the server, with one statement. A managed server may not say which it is. */
export const createReadStanding = (
  pool: Pick<pg.Pool, 'query'>,
  identity: LogIdentity,
): NonNullable<EventLog['standing']> => {
  let isServerSaid = true;
  const read = async (): Promise<Row | undefined> => {
    const statement = isServerSaid ? READ_STANDING : READ_MARK;
    return (await pool.query<Row>({ ...statement, values: [identity] })).rows[0];
  };
  return async () => {
    const row = await read().catch((error: unknown) => {
      if (!isServerSaid || !(error instanceof pg.DatabaseError) || !isUnsaid(error.code)) throw error;
      isServerSaid = false;
      return read();
    });
    const { isMarkedLost = false, system, timeline } = row ?? {};
    const server = system && timeline ? { system, timeline: Number.parseInt(timeline, 16) } : undefined;
    return { isMarkedLost, server };
  };
};

/** No such function, not supported, or not for this user. */
const UNSAID: ReadonlySet<string> = new Set(['42883', '0A000', '42501', '55000']);

const isUnsaid = (code: string | undefined): boolean => code !== undefined && UNSAID.has(code);
