import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { type NewEvent, NO_STREAM, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { project } from '#shared/projection/project.ts';
import { createReadModel, useReadModel } from '#shared/projection/schema.ts';
import type { Report } from '#shared/rest/verification-report.ts';
import { startProjector } from '../../projector/service.ts';
import { verify } from '../../proof/verify/verify.ts';
import { until } from '../../testing/until.ts';
import type { CommandSide } from './command-side.ts';

/** The projector of one process. */
export const startProjecting = (
  { domain, pool, eventLog, keys, clock }: CommandSide,
  metrics = createMetrics(),
): Promise<AsyncDisposable> =>
  startProjector({
    domain,
    pool,
    eventLog,
    keys,
    clock,
    metrics,
    notifier: { announce() {} },
    log: pino({ level: 'silent' }),
  });

/** Waits until the read model has everything that is in the log now. */
export const untilProjected = async ({ pool, eventLog }: CommandSide, deadlineMs?: number): Promise<void> => {
  const head = await eventLog.head();
  const position = async () => {
    const { rows } = await pool.query<{ position: number }>(
      `select position from public.follower_checkpoint where follower = 'projector'`,
    );
    return rows[0]?.position ?? 0;
  };
  await until(position, (reached) => reached >= head, deadlineMs);
};

/** The result of replaying the whole log into a fresh read model, in batches of a size. */
export const replayed = async (
  { pool, eventLog, codec, tables }: CommandSide,
  batch = 1_000,
): Promise<Record<string, string>> => {
  const schema = `replay_${randomUUID().replaceAll('-', '')}`;
  await createReadModel(pool, tables, schema);
  const head = await eventLog.head();
  for await (const page of eventLog.follow(START, new AbortController().signal)) {
    for (let from = 0; from < page.length; from += batch) {
      await inTransaction(pool, async (connection) => {
        await useReadModel(connection, schema);
        await project(connection, { codec, tables }, page.slice(from, from + batch));
      });
    }
    if ((page.at(-1)?.position ?? 0) >= head) break;
  }
  return digestOf(pool, schema);
};

/** Verifies that the read model equals the log. */
export const verified = (side: CommandSide): Promise<Report> =>
  verify({
    ...side,
    auditDir: '/nonexistent',
    isOfReadModel: true,
    showPersonal: false,
    signal: new AbortController().signal,
    onProgress() {},
  });

/** Appends an arbitrary event, which no command would, after a version. */
export const appendRaw = async (
  { eventLog }: CommandSide,
  stream: string,
  event: Partial<NewEvent> & Pick<NewEvent, 'type' | 'data'>,
  after: number = NO_STREAM,
): Promise<Pick<RecordedEvent, 'version' | 'position'>> => {
  const metadata = {
    version: 1,
    at: new Date().toISOString(),
    actor: 'system:test',
    client: null,
    request: 'r',
    $correlationId: 'c',
    $causationId: null,
  };
  return eventLog.append(stream as StreamName, after as Version, [
    { id: randomUUID() as EventId, metadata, ...event },
  ]);
};
