import { demandDatabase } from '#shared/database/demand-database.ts';
import type { Log } from '#shared/log.ts';

export type Database = AsyncDisposable & {
  readonly url: string;
  /** The reason why the embedded server cannot run now, if this process owns it; for public display. */
  readonly trouble?: () => string | undefined;
};

/** An undefined address means the embedded server, in the folder of the data. */
type Settings = {
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  readonly dataDir: string;
};

type Opening = {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Of the embedded server. */
  readonly settings?: Readonly<Record<string, string>>;
};

/** The database of the settings, or the embedded one, which this process then stops. */
export const openDatabase = async (
  { databaseUrl, databaseDirectUrl: directUrl, dataDir }: Settings,
  { log, signal, settings = {} }: Opening,
): Promise<Database> => {
  if (databaseUrl === undefined)
    return (await embedded()).startEmbeddedPostgres({
      dataDir,
      settings,
      log: (message, level = 'info') => log[level](message),
      signal,
    });
  const notifications = await demandDatabase({ databaseUrl, directUrl });
  if (notifications === 'polling')
    log.info(
      'DATABASE_URL leads to a pooler: without DATABASE_DIRECT_URL, changes are polled four times a second.',
    );
  return { url: databaseUrl, [Symbol.asyncDispose]: async () => {} };
};

/** Whether opening the database creates it. */
export const isFirstStart = async ({ databaseUrl, dataDir }: Settings): Promise<boolean> =>
  databaseUrl === undefined && !(await (await embedded()).hasEmbeddedPostgres(dataDir));

const embedded = () => import('#adapters/embedded-postgres/embedded.ts');
