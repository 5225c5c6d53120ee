import { pino } from 'pino';
import { openGuardedLog } from '#process/engines/open-guarded-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type GuardedLog, guardHistory } from '#shared/event-log/guard-history.ts';
import { keepNewest, type NoteFile, noteFileIn } from '#shared/event-log/newest-note.ts';
import { until } from '../../testing/until.ts';
import { createCommandDatabase } from '../engines/command-side.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createPublishingDatabase } from '../engines/migrated-database.ts';
import { createWebhookSide, type WebhookSide } from '../engines/webhook-side.ts';
import type { UsedServer } from './eventstoredb-shared-server.ts';

/** Webhooks, the first of which gets every article, on a log that is watched for a loss of events. */
export type GuardedWebhooks = WebhookSide & {
  readonly reported: readonly string[];
  /** Publishes as many articles, and waits until all are delivered. */
  publishAndDeliver(count: number): Promise<void>;
  /** The ids of what was planned and sent, each once. */
  delivered(): Promise<{ readonly planned: readonly string[]; readonly received: readonly string[] }>;
  /** Waits until the last event is in the note outside of the log. */
  untilNoted(): Promise<void>;
  /** Opens the log like a process that starts now, and has the notes of the former one. */
  startAgain(): Promise<GuardedLog>;
};

const log = pino({ level: 'silent' });

export const startGuardedWebhooks = async ({ address, startLog }: UsedServer): Promise<GuardedWebhooks> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir());
  const createDatabase = createPublishingDatabase;
  const database = opening.use(await createCommandDatabase({ startLog, createDatabase }));
  const reported: string[] = [];
  const error = (_: unknown, text?: string) => reported.push(text ?? '');
  let guarded: GuardedLog | undefined;
  opening.defer(() => guarded?.[Symbol.asyncDispose]());
  let note: NoteFile | undefined;
  const open: typeof database.open = (options) =>
    database.open({
      ...options,
      wrapLog(eventLog) {
        const { identity } = eventLog;
        note = noteFileIn(folder.path, identity);
        const newest = keepNewest({ file: note, identity, nowMs: REAL_TIME.nowMs, log });
        guarded = guardHistory(eventLog, { log: { error } as never, clock: REAL_TIME, newest });
        return guarded;
      },
    });
  const webhooks = opening.use(await createWebhookSide({ open }, { isQuick: true }));
  const { side, sink } = webhooks;
  opening.use(await webhooks.start());
  const webhookId = await webhooks.register({ ordered: true });
  const resources = opening.move();
  return {
    ...webhooks,
    reported,
    async publishAndDeliver(count) {
      const before = (await webhooks.deliveriesOf(webhookId)).length;
      await webhooks.publish(count);
      await webhooks.untilDeliveries(webhookId, 'delivered', before + count);
    },
    delivered: async () => ({
      planned: (await webhooks.deliveriesOf(webhookId)).map(({ event_id }) => event_id),
      received: [...new Set(sink.received.map(({ id }) => id))],
    }),
    async untilNoted() {
      const head = await side.eventLog.head();
      await until(
        async () => (await note?.read())?.position,
        (position) => position === head,
      );
    },
    startAgain: () =>
      openGuardedLog({
        ...{ eventLogUrl: address, databaseUrl: side.databaseUrl, auditDir: folder.path },
        ...{ log, clock: REAL_TIME, isReader: false },
      }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
