import { Router } from 'express';
import { recordingOf } from '#edge/read-log/recording.ts';
import type { WebhookId } from '#kernel/base/brands.ts';
import type { Config } from '#process/config.ts';
import type { Foundation } from '#process/foundation.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Pool } from '#shared/database/pool.ts';
import { pulseOf } from '#shared/database/pulse.ts';
import { migrateEventIndex } from '#shared/event-index/event-index.ts';
import type { Log } from '#shared/log.ts';
import { policyOf } from '#shared/policy.ts';
import { openIfLogged } from '#shared/read-log/open-if-logged.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { openComposer, openSender } from './deliver/send.ts';
import { traceAttempts } from './deliver/trace-attempts.ts';
import { createDisabler } from './disable-webhook.ts';
import { createEndpointSecrets } from './endpoint-secrets.ts';
import { createEnqueuer, type Enqueuer, startSweeping } from './enqueue.ts';
import { NOT_RUN } from './hand-over.ts';
import { followClock, HAS_MOVED } from './ledger/clock.ts';
import { addFilterColumns } from './ledger/endpoints.ts';
import { migrateLedger } from './ledger/migrate.ts';
import { openRunLedger } from './ledger/run-ledger.ts';
import { ARE_UNATTENDED, findUnattended } from './ledger/runs.ts';
import { observeDeliveries } from './observe.ts';
import { startPlanner } from './plan.ts';
import { startPurging } from './purge.ts';
import type { DeliveryQueue, Unattended } from './queue/delivery-queue.ts';
import { openDeliveryQueue } from './queue/open.ts';
import { startReplayer } from './replay.ts';
import { createBodyReader } from './rest/body.ts';
import { deliveryRoutes } from './rest/routes.ts';
import { createRunner, type Runner } from './runner.ts';

export type DispatcherDependencies = Pick<
  Foundation,
  'domain' | 'clock' | 'pool' | 'databaseUrl' | 'directUrl' | 'eventLog' | 'keys' | 'metrics' | 'health'
> & {
  readonly changes: ChangeStream;
  readonly gateway: CommandGateway;
  readonly log: Log;
  /** Off by default. */
  readonly tracing?: Tracing;
  readonly config: Pick<Config, 'jobQueueUrl' | 'webhooks' | 'requireIfMatch' | 'limits' | 'publicUrl'>;
  /** Whether this process plans and sends; otherwise another process does. */
  readonly follows?: boolean;
};

type DispatcherService = AsyncDisposable & {
  readonly routes: Router;
};

/** The minimum number of failures before a webhook is disabled. */
const FAILURES_MIN = 5;
const HOUR_MS = 3_600_000;
/** How often it looks for due deliveries although the pulse has shown none. */
const SWEEP_EVERY_MS = 60_000;

/** Starts the dispatcher: plans deliveries, sends them, and serves their results. */
export const startDispatcher = async (dependencies: DispatcherDependencies): Promise<DispatcherService> => {
  const {
    domain,
    clock,
    pool,
    eventLog,
    changes,
    gateway,
    log,
    metrics,
    tracing,
    health,
    config,
    follows = true,
  } = dependencies;
  const { webhooks, requireIfMatch, limits, publicUrl } = config;
  await migrateLedger(pool);
  await addFilterColumns(pool, domain);
  await migrateEventIndex(pool);
  const readBody = createBodyReader({ domain, pool, compose: openComposer({ ...dependencies, publicUrl }) });
  await using opening = new AsyncDisposableStack();
  const readLog = await openIfLogged(dependencies);
  if (readLog) opening.use(readLog);
  const deliveries = deliveryRoutes({
    domain,
    pool,
    eventLog,
    clock,
    gateway,
    readBody,
    requireIfMatch,
    bodyBytesMax: limits.bodyBytesMax,
  });
  const routes = Router().use(...(await recordingOf(readLog)), deliveries);
  if (!follows) {
    const opened = opening.move();
    return { routes, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }
  const queue = opening.use(
    await openDeliveryQueue({
      url: queueUrl(dependencies),
      name: `webhooks-${eventLog.identity}`,
      log,
      clock,
    }),
  );
  // Without the queue, deliveries are planned but not sent.
  health.add('job queue', queue.check);
  const enqueuer = opening.use(createEnqueuer({ queue, log }));
  const runner = startRunner({ ...dependencies, readLog }, enqueuer, opening);
  // Starts nothing more then, because the time to end deliveries in progress is short.
  health.onDrain(runner.drain);
  const planned = runner.handOver;
  opening.use(await startPlanner({ domain, pool, eventLog, changes, log, metrics, clock, tracing, planned }));
  opening.use(await startReplayer({ domain, pool, eventLog, changes, log, clock, planned }));
  const run = async (webhookId: WebhookId) => {
    try {
      if (await runner.run(webhookId)) enqueuer.enqueue([webhookId]);
    } catch (err) {
      log.warn({ err, webhookId }, NOT_RUN);
    }
  };
  const worker = await queue.work(run, { concurrency: webhooks.concurrency });
  // Ends deliveries in progress first, because the worker waits for them.
  opening.defer(
    async () => void (await Promise.all([runner[Symbol.asyncDispose](), worker[Symbol.asyncDispose]()])),
  );
  opening.use(sweep(dependencies, queue, runner));
  opening.use(startPurging({ pool, keepDays: webhooks.keepDays, log, clock }));
  const resources = opening.move();
  return { routes, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};

const sweep = (
  { pool, log, clock }: DispatcherDependencies,
  { takeOver }: DeliveryQueue,
  { waiting }: Runner,
): AsyncDisposable =>
  startSweeping({
    find: () => findDue(pool, { log, waiting }),
    takeOver,
    async wait(signal) {
      const until = `${ARE_UNATTENDED} or ${HAS_MOVED}`;
      await pulseOf(pool).wait({ until, clock, timeoutMs: SWEEP_EVERY_MS, signal });
    },
    log,
  });

const findDue = async (
  pool: Pool,
  { log, waiting }: { readonly log: Log } & Pick<Runner, 'waiting'>,
): Promise<readonly Unattended[]> => {
  const setBackByMs = await followClock(pool);
  if (setBackByMs > 0)
    log.warn({ setBackByMs }, 'The clock of the database was set back: waiting deliveries were rescheduled.');
  return findUnattended(pool, waiting);
};

const startRunner = (
  dependencies: DispatcherDependencies & { readonly readLog: ReadLog | undefined },
  { enqueue }: Enqueuer,
  opening: AsyncDisposableStack,
): Runner => {
  const { domain, pool, eventLog, keys, gateway, log, metrics, clock, config, readLog } = dependencies;
  const { tracing = NO_TRACING } = dependencies;
  const { webhooks, publicUrl } = config;
  const ledger = openRunLedger(domain, pool, {
    hours: webhooks.disableAfterMs / HOUR_MS,
    failures: FAILURES_MIN,
  });
  const secrets = createEndpointSecrets({ domain, pool, eventLog, keys, clock });
  const sender = traceAttempts(
    tracing,
    opening.use(openSender({ domain, pool, eventLog, keys, clock, readLog, settings: webhooks, publicUrl })),
  );
  const observer = observeDeliveries({ metrics, pool, clock, running: () => runner.running });
  const runner = createRunner({
    ledger,
    policy: policyOf(domain),
    secrets,
    sender,
    log,
    clock,
    observer,
    disable: createDisabler({ gateway, log }),
    runsMax: webhooks.concurrency,
    enqueue,
  });
  return runner;
};

/** The embedded database has an address that no setting can know. */
const queueUrl = ({
  config: { jobQueueUrl },
  databaseUrl,
  directUrl = databaseUrl,
}: DispatcherDependencies): string => (/^postgres(ql)?:$/.test(jobQueueUrl) ? directUrl : jobQueueUrl);
