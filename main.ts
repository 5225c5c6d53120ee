import { openDatabase } from '#shared/database/open-database.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import { createApp } from '#shared/http/app.ts';
import { Health, healthRoutes } from '#shared/http/health.ts';
import { rootRoutes } from '#shared/http/root.ts';
import { startHttpServer } from '#shared/http/server.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { createMetrics, startMetricsServer } from '#shared/metrics.ts';
import { type ProcessContext, run } from '#shared/run.ts';
import packageJson from './package.json' with { type: 'json' };

/** How much of `DRAIN_MS` is for requests in flight; the rest is for closing what they used. */
const HTTP_SHARE_OF_DRAIN = 0.7;

/** All roles in one process, on the embedded database unless the settings name another. */
const start = async ({ config, log, resources }: ProcessContext): Promise<void> => {
  const metrics = createMetrics();
  const health = new Health(log);
  const database = resources.use(await openDatabase(config, log));
  const eventLog = resources.use(await openEventLog({ url: config.eventLogUrl ?? database.url }));
  health.add('event log', () => eventLog.head());
  await openMasterKey(config);
  // COMMAND SERVICE: `startCommand({ … })` of command/service.ts goes here, and its routes into `routes` below.

  const routes = [healthRoutes(health), rootRoutes({ version: packageJson.version, links: LINKS })];
  const { http: listener, limits, drainMs } = config;
  const handler = createApp({ log, metrics, routes });
  resources.use(await startMetricsServer(metrics, config.metrics));
  const server = resources.use(
    await startHttpServer({ handler, listener, setting: 'PORT', limits, drainMs: drainMs * HTTP_SHARE_OF_DRAIN, log }),
  );
  resources.defer(() => health.drain());
  log.info({ url: server.url }, 'Annals is ready.');
  if (config.environment === 'development') process.stderr.write(banner(server.url));
};

const LINKS = [
  { rel: 'alive', href: '/livez', title: 'Whether the process lives' },
  { rel: 'ready', href: '/readyz', title: 'Whether it can do its work' },
];

const banner = (url: string): string => `
  Annals is at ${url}

  Try next:
    curl ${url}/                     what is there
    npm run annals -- help           the command line
    npm run annals -- log tail       the events so far

  Ctrl+C stops it; the data stays.

`;

await run(start);
