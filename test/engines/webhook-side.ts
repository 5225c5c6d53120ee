import { pino } from 'pino';
import { Health } from '#edge/http/health.ts';
import type { EventId, UserId, WebhookId } from '#kernel/base/brands.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { openPostgresChangeStream } from '#shared/change-stream/postgres/postgres-change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { Command } from '#shared/commands/command.ts';
import { openPool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import { openReadModelNotifier } from '#shared/read-model/read-model.ts';
import { startProjector } from '../../projector/service.ts';
import { type Received, startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import { type DispatcherDependencies, startDispatcher } from '../../webhook-dispatcher/service.ts';
import {
  as,
  by,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from './command-side.ts';
import { createPublishingDatabase } from './migrated-database.ts';
import { createTestClock } from './test-clock.ts';

type Settings = Readonly<Record<string, string>>;
type Dependencies = AsyncDisposable & DispatcherDependencies;

type Delivery = {
  readonly event_id: EventId;
  readonly type: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_status: number | null;
};

/** Commands, their projection, a receiver, and any number of dispatchers. */
export type WebhookSide = AsyncDisposable & {
  readonly side: CommandSide;
  readonly sink: WebhookSink;
  readonly author: UserId;
  /** An address of the receiver. */
  at(path: string): string;
  receivedAt(path: string): readonly Received[];
  /** The dependencies of a dispatcher: each has connections of its own, like a process. */
  dependencies(settings?: Settings): Promise<Dependencies>;
  start(settings?: Settings): Promise<AsyncDisposable & Pick<Dependencies, 'metrics'>>;
  /** With the receiver's address by default. */
  register(
    webhook?: Partial<Omit<Extract<Command, { type: 'RegisterWebhook' }>, 'type'>>,
  ): Promise<WebhookId>;
  /** As the author. */
  send(command: Command): Promise<unknown>;
  /** Drafts as many articles, one event each. */
  publish(count: number): Promise<void>;
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** In the order of the log. */
  deliveriesOf(webhookId: WebhookId): Promise<readonly Delivery[]>;
  /** Simulates that the lease of a run has expired. */
  expireRun(webhookId: WebhookId): Promise<unknown>;
  /** Waits until `count` deliveries of a webhook are in a state. */
  untilDeliveries(webhookId: WebhookId, state: string, count: number): Promise<void>;
};

/** Short retries, up to a hundred. */
const QUICK = {
  NODE_ENV: 'test',
  WEBHOOK_RETRY_SCHEDULE: Array(100).fill('0.05').join(','),
  WEBHOOK_CONCURRENCY: '20',
  WEBHOOK_TIMEOUT_MS: '5000',
};
const UNLIMITED = { ratePerSecond: 1_000, concurrency: 10 };
const ANY = {
  description: null,
  eventTypes: ['article.*'],
  filter: {},
  payload: 'thin',
  ordered: false,
  headers: {},
  enabled: true,
} as const;
const DELIVERIES =
  'select event_id, type, state, attempts, last_status from webhook_ledger.delivery where webhook_id = $1 order by position';

type Options = {
  /** Pauses, polls and rests of the dispatcher take a twentieth of their time, if no test measures them. */
  readonly isQuick?: boolean;
};

const STEP_MS = 200;

/** `on` outlives it. */
export const createWebhookSide = async (
  on?: Pick<CommandDatabase, 'open'>,
  { isQuick = false }: Options = {},
): Promise<WebhookSide> => {
  await using opening = new AsyncDisposableStack();
  const ticks = createTestClock();
  if (isQuick) opening.use(ticks.keepMoving(STEP_MS));
  // The dates stay real, because those of the database are.
  const clock: Clock = isQuick ? { ...ticks, nowMs: REAL_TIME.nowMs, aheadMs: REAL_TIME.aheadMs } : REAL_TIME;
  const database =
    on ?? opening.use(await createCommandDatabase({ createDatabase: createPublishingDatabase }));
  const side = opening.use(await database.open({ webhooks: loadConfig(QUICK).webhooks }));
  const sink = opening.use(await startWebhookSink());
  const log: Log = pino({ level: 'silent' });
  const notifier = opening.use(openReadModelNotifier({ url: side.databaseUrl, clock: REAL_TIME }));
  opening.use(await startProjector({ ...side, notifier, log, metrics: createMetrics() }));
  const author = await registerUser(side);
  const pool = opening.use(openPool({ url: side.databaseUrl, applicationName: 'test', connectionsMax: 2 }));
  const rows: WebhookSide['rows'] = async <Row extends object>(
    text: string,
    values: readonly unknown[] = [],
  ) => (await pool.query<Row>(text, [...values])).rows;
  const deliveriesOf = (webhookId: WebhookId) => rows<Delivery>(DELIVERIES, [webhookId]);
  const dependencies = (settings: Settings = {}) => openDependencies({ ...side, clock }, log, settings);
  const resources = opening.move();
  return {
    side,
    sink,
    author,
    at: (path) => `${sink.url}${path}`,
    receivedAt: (path) => sink.received.filter((each) => each.path === path),
    dependencies,
    rows,
    deliveriesOf,
    expireRun: (webhookId) =>
      rows(`update webhook_ledger.endpoint set run_until = '-infinity' where webhook_id = $1`, [webhookId]),
    start: async (settings) => startOn(await dependencies(settings)),
    async register(webhook = {}) {
      const command = {
        type: 'RegisterWebhook',
        url: `${sink.url}/hook`,
        limits: UNLIMITED,
        ...ANY,
        ...webhook,
      } as const;
      return (await side.send({ ...command, eventTypes: [...command.eventTypes] }, by(as(author))))
        .id as WebhookId;
    },
    send: (command) => side.send(command, by(as(author))),
    async publish(count) {
      for (let times = 0; times < count; times += 1) await draftArticle(side, author, false);
    },
    async untilDeliveries(webhookId, state, count) {
      await until(
        () => deliveriesOf(webhookId),
        (found) => found.filter((each) => each.state === state).length === count,
        30_000,
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const openDependencies = async (side: CommandSide, log: Log, settings: Settings): Promise<Dependencies> => {
  await using opening = new AsyncDisposableStack();
  const { databaseUrl, eventLog, keys, clock } = side;
  const pool = opening.use(openPool({ url: databaseUrl, applicationName: 'dispatcher', connectionsMax: 8 }));
  const notifier = opening.use(openReadModelNotifier({ url: databaseUrl, clock: REAL_TIME }));
  const changes = opening.use(openPostgresChangeStream({ ...side, pool, notifier }));
  const beside = {
    gateway: side,
    clock,
    log,
    health: new Health(log),
    config: loadConfig({ ...QUICK, ...settings }),
    metrics: createMetrics(),
  };
  const resources = opening.move();
  return {
    domain: side.domain,
    databaseUrl,
    directUrl: undefined,
    eventLog,
    keys,
    pool,
    changes,
    ...beside,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const startOn = async (
  dependencies: Dependencies,
): Promise<AsyncDisposable & Pick<Dependencies, 'metrics'>> => {
  await using opening = new AsyncDisposableStack();
  opening.use(dependencies);
  opening.use(await startDispatcher(dependencies));
  const resources = opening.move();
  return { metrics: dependencies.metrics, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
