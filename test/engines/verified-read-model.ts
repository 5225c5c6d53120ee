import { pino } from 'pino';
import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import type { Report } from '#shared/rest/verification-report.ts';
import { startAudit } from '../../proof/service.ts';
import type { Verification } from '../../proof/verify/plan.ts';
import { verify } from '../../proof/verify/verify.ts';
import { until } from '../../testing/until.ts';
import type { ArticleId } from '../publishing-ids.ts';
import { WEBHOOK_FORM } from '../webhook-form.ts';
import { addComment, as, by, type CommandSide, draftArticle, registerUser } from './command-side.ts';
import { temporaryDataDir } from './data-dir.ts';
import { test as base, createFilledReadModel, type FilledReadModel } from './filled-read-model.ts';
import type { StartLog } from './log-engines.ts';
import { untilProjected } from './projection.ts';

/** A read model with something of everything, and its verification. */
export type VerifiedReadModel = FilledReadModel & {
  readonly article: ArticleId;
  readonly webhook: WebhookId;
  verify(more?: Partial<Verification>): Promise<Report>;
  /** Tampers with a table, verifies, and undoes it. */
  verifyTampered(statement: string, undo: string): Promise<Report>;
  /** Chains and signs the whole log. */
  sign(): Promise<void>;
};

const never = new AbortController().signal;

export const createVerifiedReadModel = async (startLog: StartLog): Promise<VerifiedReadModel> => {
  await using opening = new AsyncDisposableStack();
  const readModel = opening.use(await createFilledReadModel(startLog));
  const folder = opening.use(await temporaryDataDir());
  const { side, authors } = readModel;
  const author = authors[0] as UserId;
  const article = await draftArticle(side, author);
  const webhook = await writeWebhooks(side, author);
  await writeDeparture(side, article);
  await untilProjected(side);
  const run: VerifiedReadModel['verify'] = (more = {}) =>
    verify({
      ...side,
      auditDir: folder.path,
      isOfReadModel: true,
      showPersonal: false,
      signal: never,
      onProgress() {},
      ...more,
    });
  const settings = { dir: folder.path, headEveryMs: 20, watchEventsPerSecond: 0 };
  const resources = opening.move();
  return {
    ...readModel,
    article,
    webhook,
    verify: run,
    async verifyTampered(statement, undo) {
      await side.pool.query(statement);
      try {
        return await run();
      } finally {
        await side.pool.query(undo);
      }
    },
    async sign() {
      await using _audit = await startAudit({
        ...side,
        settings,
        log: pino({ level: 'silent' }),
        metrics: createMetrics(),
      });
      const head = await side.eventLog.head();
      await until(
        async () =>
          (
            await side.pool.query<{ position: number }>(
              'select max(last_position) as position from audit.block',
            )
          ).rows[0]?.position,
        (position) => position === head,
      );
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const register = async (side: CommandSide, owner: UserId): Promise<WebhookId> => {
  const { id } = await side.send(
    {
      ...{ type: 'RegisterWebhook', ...WEBHOOK_FORM, description: 'The shop', eventTypes: ['article.*'] },
      ...{ filter: { authorId: owner }, headers: { Zeta: 'last', Authorization: 'Bearer of.tokens' } },
    },
    by(as(owner)),
  );
  return id as WebhookId;
};

/** One webhook through all its states; a second stays unchanged. */
const writeWebhooks = async (side: CommandSide, owner: UserId): Promise<WebhookId> => {
  const webhookId = await register(side, owner);
  await register(side, owner);
  await side.send(
    { type: 'EditWebhook', webhookId, ordered: true, headers: { 'X-Team': 'blue' }, filter: {} },
    by(as(owner)),
  );
  await side.send({ type: 'RotateWebhookSecret', webhookId }, by(as(owner)));
  await side.send(
    { type: 'DisableWebhook', webhookId, reason: 'failing' },
    by({ kind: 'system', name: 'test' }),
  );
  await side.send({ type: 'EnableWebhook', webhookId }, by(as(owner)));
  return webhookId;
};

/** A user who wrote something and was deleted. */
const writeDeparture = async (side: CommandSide, article: ArticleId): Promise<void> => {
  const gone = await registerUser(side, { name: 'Gone', email: 'gone@example.com' });
  await draftArticle(side, gone);
  await addComment(side, gone, article);
  await register(side, gone);
  await side.send({ type: 'UpdateUser', userId: gone, name: 'Going' }, by(as(gone)));
  await side.send({ type: 'DeleteUser', userId: gone }, by(as(gone)));
  // Otherwise the readable data would change in a moment.
  await until(
    () => side.keys.find([gone]),
    (found) => found.get(gone) === 'destroyed',
  );
};

/** A verified read model for each file. */
export const test = base.extend('readModel', { scope: 'file' }, async ({ startLog }, { onCleanup }) => {
  const readModel = await createVerifiedReadModel(startLog);
  onCleanup(() => readModel[Symbol.asyncDispose]());
  return readModel;
});
