import type { Config } from '#shared/config.ts';
import type { Log } from '#shared/log.ts';
import { demandPostgres } from './demand-postgres.ts';
import { startEmbeddedPostgres } from './embedded.ts';

export type Database = AsyncDisposable & { readonly url: string };

/** The database of the settings, or the embedded one, which is then this process's to stop. */
export const openDatabase = async ({ databaseUrl, dataDir }: Config, log: Log): Promise<Database> => {
  if (databaseUrl === undefined) return startEmbeddedPostgres({ dataDir, log: (message) => log.info(message) });
  await demandPostgres({ url: databaseUrl, setting: 'DATABASE_URL' });
  return { url: databaseUrl, [Symbol.asyncDispose]: async () => {} };
};
