import cluster from 'node:cluster';
import type { Readiness } from '#edge/http/health.ts';
import { demandFreePorts } from '#edge/http/listen.ts';
import { memoryArrivals, microsecondsOf } from '#edge/rate-limit/memory/arrivals.ts';
import { isFirstStart, openDatabase } from '#process/engines/open-database.ts';
import { createMetrics, startMetricsServer } from '../observability/metrics.ts';
import type { ProcessContext } from '../run.ts';
import { embeddedConnections, warnOfFewConnections } from './connections.ts';
import { type Kept, keepRunning } from './keep-running.ts';
import { FOLLOWERS } from './protocol.ts';
import { type Asked, type Running, runWorker } from './running.ts';
import { createMetricsSum, type MetricsSum, takeSnapshot } from './sum-metrics.ts';

/**
 * All roles in several processes: `WORKERS` of them serve clients behind one listener, and one follows the
 * event log. This process has the listener, the embedded database, the rate limits and the metrics of all,
 * and does nothing else, so that it seldom has a reason to end.
 */
export const startPrimary = async (context: ProcessContext): Promise<void> => {
  const { config, log, resources, signal } = context;
  if (await isFirstStart(config))
    await demandFreePorts([
      { ...config.http, setting: 'PORT' },
      { ...config.metrics, setting: 'METRICS_PORT' },
    ]);
  const database = resources.use(
    await openDatabase(config, { log, signal, settings: embeddedConnections(config.workers) }),
  );
  await warnOfFewConnections(database.url, config.workers, log);
  const metrics = createMetrics();
  const sum = createMetricsSum();
  // Round-robin, so that no worker has more than its share of lasting connections; otherwise the fastest to
  // accept would have most of them.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Metrics may be NaN, which JSON cannot represent.
  cluster.setupPrimary({ serialization: 'advanced', args: [...process.argv.slice(2)] });
  const workers = openWorkers(context, {
    databaseUrl: database.url,
    sum,
    trouble: () => database.trouble?.(),
  });
  resources.defer(workers.stop);
  const url = await workers.start();
  const all = { contentType: metrics.contentType, metrics: () => workers.metrics(metrics) };
  resources.use(await startMetricsServer(all, config.metrics));
  context.onHangUp?.(workers.replaceAll);
  log.info({ url, workers: config.workers }, 'Annals is ready.');
};

type Options = {
  readonly databaseUrl: string;
  readonly sum: MetricsSum;
  readonly trouble: () => string | undefined;
};

const openWorkers = ({ config, clock, log }: ProcessContext, { databaseUrl, sum, trouble }: Options) => {
  const arrivals = memoryArrivals({ nowUs: microsecondsOf(clock) });
  const answersTo = (who: string): Asked => ({
    charge: (charges) => charges.map((charge) => arrivals.charge(charge)),
    readiness: () => readinessOf(followers, trouble()),
    farewell: (snapshot) => void sum.keep(who, snapshot),
  });
  let started = 0;
  const who = new Map<Running, string>();
  const keep = (name: string): Kept =>
    keepRunning({
      name,
      log,
      clock,
      run(isFirst) {
        started += 1;
        const key = `${name} ${started}`;
        const environment = { DATABASE_URL: databaseUrl };
        const running = runWorker({
          name,
          isFirst: isFirst && name === '1',
          environment,
          answers: answersTo(key),
        });
        who.set(running, key);
        return running;
      },
      ended(running) {
        sum.retire(who.get(running) ?? '');
        who.delete(running);
      },
    });
  const followers = keep(FOLLOWERS);
  const serving = Array.from({ length: config.workers }, (_, index) => keep(String(index + 1)));
  return {
    async start(): Promise<string | undefined> {
      const ready = await Promise.all([followers, ...serving].map((each) => each.start()));
      return ready.find(({ url }) => url !== undefined)?.url;
    },
    replaceAll: inTurn(async () => {
      for (const each of [followers, ...serving]) {
        log.info({ worker: each.name }, 'A worker is replaced.');
        if (!(await each.replace()))
          return log.error(
            { worker: each.name },
            'A new worker could not start: the worker that it should replace continues, and so do the remaining ones.',
          );
      }
      log.info('All workers are replaced.');
    }),
    async metrics(own: Parameters<typeof takeSnapshot>[0]): Promise<string> {
      const asking = [...who].map(async ([{ channel }, key]) => {
        // A worker that does not respond keeps its last metrics.
        const snapshot = await channel.ask('metrics', undefined, METRICS_WITHIN_MS).catch(() => undefined);
        if (snapshot !== undefined && [...who.values()].includes(key)) sum.keep(key, snapshot);
      });
      await Promise.all(asking);
      sum.keep('primary', await takeSnapshot(own));
      return sum.sum().metrics();
    },
    /** First the workers that serve clients: their requests in flight may need the followers. */
    async stop(): Promise<void> {
      await Promise.all(serving.map((each) => each.stop()));
      await followers.stop();
    },
  };
};

/** Less than the timeout of a scraper, and more than a gauge may take. */
const METRICS_WITHIN_MS = 8_000;

const readinessOf = async ({ current }: Kept, trouble: string | undefined): Promise<Readiness> => {
  const unready = (reason: string): Readiness => ({
    status: 'not ready',
    checks: {},
    reasons: { followers: reason },
  });
  if (trouble !== undefined) return unready(trouble);
  if (current === undefined) return unready('The worker is being restarted.');
  return current.channel.ask('readiness', undefined);
};

/** Runs one after the other; any number of calls during a run cause one more. */
const inTurn = (work: () => Promise<void>): (() => void) => {
  let running = false;
  let again = false;
  const begin = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await work();
    } while (again);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void begin();
  };
};
