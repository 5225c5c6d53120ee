import pg from 'pg';
import { NotReady } from '#shared/not-ready.ts';

const UNIQUE_VIOLATION = '23505';

/** SQLSTATE classes and codes after which a retry of the statement may succeed. */
const PASSING_CLASSES = ['08', '53', '57P'];
const PASSING_CODES = new Set(['40001', '40P01', '55P03', '57014', '25006', '3D000']);

/** Too many callers wait for a connection for another to wait. */
export class PoolExhausted extends Error {
  constructor(waitingMax: number) {
    super(`${waitingMax} callers are already waiting for a connection to the database`);
    this.name = 'PoolExhausted';
  }
}

/** The server no longer works on a statement, and its response has not arrived. */
export class ConnectionHangs extends Error {
  constructor() {
    super('a statement got no response, and the server does not work on it: the connection is lost');
    this.name = 'ConnectionHangs';
  }
}

/** The server has not responded in time. */
export class ServerSilent extends Error {
  constructor() {
    super(SILENCE);
    this.name = 'ServerSilent';
  }
}

/**
 * Whether a failure is a temporary one of the server or the network, rather than a response to the statement.
 */
export const isPassing = (error: unknown): boolean => {
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? '';
    return PASSING_CODES.has(code) || PASSING_CLASSES.some((start) => code.startsWith(start));
  }
  if (!(error instanceof Error)) return false;
  if (error instanceof PoolExhausted || error instanceof ConnectionHangs) return true;
  const code = 'code' in error ? String(error.code) : '';
  return NETWORK_CODES.has(code) || DRIVER_MESSAGES.some((message) => error.message.includes(message));
};

export const isUniqueViolation = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION;

/** Whether the disk of the server is full. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === DISK_FULL;

/** Whether a statement exceeded `temp_file_limit`, which says nothing about the disk. */
export const isLimitOfTemporaryFiles = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === LIMIT_EXCEEDED;

/**
 * One sentence about a refusal that lasts until the server’s setup changes; undefined for every other error.
 */
export const setupFailure = (error: unknown): string | undefined => {
  const remedy = error instanceof pg.DatabaseError ? REMEDIES[error.code ?? ''] : undefined;
  return (
    remedy &&
    `PostgreSQL refuses a statement of Annals, “${(error as Error).message}”: ${remedy} (docs/postgresql.md).`
  );
};

/** Whether a statement tried to write in a transaction that only reads. */
export const isRefusedWrite = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === READ_ONLY;

/** Whether a value has no meaning for the type that its statement demands, such as a text for a number. */
export const isInvalidValue = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && INVALID_VALUES.has(error.code ?? '');

/**
 * Whether a statement has fewer or more values than parameters. Poolers use the same code for lost
 * connections, but name no routine.
 */
export const isWrongCount = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === PROTOCOL_VIOLATION && error.routine === BIND;

/** Whether a statement names a table that does not exist yet. */
export const isUndefinedTable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE;

/** Whether a statement names a column that its table does not have. */
export const isUndefinedColumn = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && NO_COLUMN.has(error.code ?? '');

/** Whether a statement names a schema, a table or a column that does not exist yet. */
export const isUndefined = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && UNDEFINED.has(error.code ?? '');

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const REMEDIES: Readonly<Record<string, string>> = {
  '25006': 'connect to the primary, with a role that may write',
  '42501': 'grant the missing rights to its role',
  '42P06': 'another application uses a name that Annals needs, so create a database for Annals alone',
  '42P07': 'another application uses a name that Annals needs, so create a database for Annals alone',
};

const READ_ONLY = '25006';
const PROTOCOL_VIOLATION = '08P01';
const BIND = 'exec_bind_message';
/** Out of range, a malformed date, a date out of range, a zero in a text, and a malformed text. */
const INVALID_VALUES: ReadonlySet<string> = new Set(['22003', '22007', '22008', '22021', '22P02', '22P05']);
const DISK_FULL = '53100';
const LIMIT_EXCEEDED = '53400';
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_COLUMN = '42703';
/** PostgreSQL reads `t.count` as `count(t)` if the table has no such column, and has no place for an aggregate. */
const MISPLACED_AGGREGATE = '42803';
const NO_COLUMN: ReadonlySet<string> = new Set([UNDEFINED_COLUMN, MISPLACED_AGGREGATE]);
const UNDEFINED: ReadonlySet<string> = new Set(['3F000', UNDEFINED_TABLE, ...NO_COLUMN]);

/**
 * Whether the server did not respond in time. Its response may still come, so the connection is of no more
 * use.
 */
export const isSilence = (error: unknown): error is Error =>
  error instanceof ConnectionHangs || (error instanceof Error && error.message === SILENCE);

const SILENCE = 'Query read timeout';

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The driver distinguishes these by their message alone. */
const DRIVER_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'timeout exceeded when trying to connect',
  SILENCE,
  'Connection ended unexpectedly',
];

/** The failure in words without personal data, hosts and folders; the whole error is in the log. */
export const failureForAnybody = (error: unknown): string => {
  if (error instanceof NotReady) return error.message;
  if (error instanceof pg.DatabaseError)
    return `PostgreSQL says ${withoutValues(error.message)} (${error.code})`;
  const { name, code } = error as Partial<Error & { code: unknown }>;
  return [name ?? typeof error, code].filter((part) => part !== undefined).join(' ');
};

/** PostgreSQL quotes values in the quotation marks of its language; a value may contain such marks itself. */
const withoutValues = (message: string): string => message.replace(/["'„“”«»‹›‘’].*["'„“”«»‹›‘’]/s, '…');
