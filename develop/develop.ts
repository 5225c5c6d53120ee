import { join } from 'node:path';
import { demandFreePorts } from '#edge/http/listen.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openDatabase } from '#process/engines/open-database.ts';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import { Development } from './development.ts';
import { DEVELOPED } from './protocol.ts';

/**
 * `npm run dev`: serves the domain, and serves it again as soon as one of its files changes. PostgreSQL runs on
 * meanwhile. A declaration that is refused changes nothing: the former one is still served.
 */
export const develop = async (program: string, args: readonly string[]): Promise<void> => {
  if (args.length > 0)
    throw new StartRefused(
      `There is no argument ${args[0]} of dev: environment variables configure it, as in PORT=4001 npm run dev.`,
    );
  if (process.env.NODE_ENV === 'production')
    throw new StartRefused('dev does not run in production: use npm start, or unset NODE_ENV.');
  const config = loadConfig();
  await demandFreePorts([
    { ...config.http, setting: 'PORT' },
    { ...config.metrics, setting: 'METRICS_PORT' },
  ]);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  const log = createLog({ level: config.logLevel });
  await using database = await openDatabase(config, { log, signal: stopping.signal });
  const environment = {
    NODE_COMPILE_CACHE: join('node_modules', '.cache', 'node'),
    ...process.env,
    ...{ [DEVELOPED]: '1', DATABASE_URL: database.url, WORKERS: '1' },
  };
  await new Development(config, { program, environment }, stopping.signal).run();
};
