import pg from 'pg';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type Found, whyUnusable } from './usable.ts';

/** The setting of an address, for the message if the address is useless. */
export type AddressSetting = 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'EVENT_LOG_URL';

type Demand = { readonly url: string; readonly setting: AddressSetting; readonly majorMin?: number };

const MAJOR_MIN = 15;
const ANSWER_WITHIN_MS = 10_000;

/**
 * Checks that the server of a setting is usable, before anything starts or is created; the error is one
 * sentence.
 */
export const demandPostgres = async (demand: Demand): Promise<void> => {
  const { url, setting, majorMin = MAJOR_MIN } = demand;
  const refusal = await ask(url, { host: hostOf(url), setting, majorMin }).catch((cause: unknown) => {
    throw new StartRefused(explain(cause, demand), { cause });
  });
  if (refusal !== undefined) throw new StartRefused(refusal);
};

/** The host of an address, without the user and the password. */
const hostOf = (url: string): string => {
  const { host, searchParams } = new URL(url);
  return host || searchParams.get('host') || 'localhost';
};

const ask = async (url: string, found: Found): Promise<string | undefined> => {
  const limits = { connectionTimeoutMillis: ANSWER_WITHIN_MS, query_timeout: ANSWER_WITHIN_MS };
  const client = new pg.Client({ connectionString: url, application_name: 'annals-start', ...limits });
  // A connection that is lost between two steps fails the next.
  client.on('error', () => {});
  try {
    await client.connect();
    const reason = await whyUnusable(client, found);
    // A pooler closes the server’s session of a client that leaves within a transaction.
    await client.query('rollback');
    return reason;
  } finally {
    void client.end().catch(() => {});
  }
};

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const WRONG_USER = new Set(['28000', '28P01']);
const NO_SUCH_DATABASE = '3D000';
const PROTOCOL_VIOLATION = '08P01';

/** Any error here is about the address, or the server behind it. */
const explain = (error: unknown, { url, setting }: Demand): string => {
  const host = hostOf(url);
  if (!(error instanceof pg.DatabaseError))
    return `No PostgreSQL answers at ${host} (${reasonOf(error)}): start it, or set ${setting} to one that runs.`;
  const { code = '', message } = error;
  if (WRONG_USER.has(code)) return `PostgreSQL at ${host} refuses the user of ${setting}: ${message}.`;
  if (code === NO_SUCH_DATABASE)
    return `PostgreSQL at ${host} says that the ${message}: create it, or set ${setting} to another.`;
  if (code === PROTOCOL_VIOLATION && message.includes('statement pooling'))
    return `The pooler at ${host} is in statement mode, but Annals needs transactions: set it to transaction or session mode.`;
  return `PostgreSQL at ${host} accepts no connection: ${message}. Retry, or set ${setting} to another.`;
};

/** If a name has several addresses, the failure of all of them has a code and no message. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
};
