import { type Request, type RequestHandler, Router } from 'express';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { callerOf } from '#shared/http/authenticate/authenticate.ts';
import { parametersOf } from '#shared/http/parameters.ts';
import { Rejection } from '#shared/rejection.ts';
import { demandAdmission } from '#shared/rest/admission.ts';
import { DELIVERY_OPERATIONS } from '#shared/rest/deliveries.ts';
import { type RestOperation, routeOf } from '#shared/rest/operation.ts';
import { answerRead, type ReadAnswer } from '#shared/rest/reads/answer.ts';
import { itemOf } from '#shared/rest/writes/item.ts';
import {
  type AttemptRow,
  attemptKey,
  type DeliveryRow,
  deliveryKey,
  findDelivery,
  findReplay,
  listAttempts,
  listDeliveries,
  listReplays,
  type ReplayRow,
  replayKey,
} from '#shared/webhooks/deliveries.ts';
import { readKeyedList } from '#shared/webhooks/pages.ts';
import { representAttempt, representDelivery, representReplay } from '#shared/webhooks/representation.ts';
import { createWebhookFinder } from './find-webhook.ts';

type ReadDependencies = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Runs once the caller is admitted, and before anything is read. */
  readonly before: readonly RequestHandler[];
};

const { listDeliveries: LIST, getDelivery: GET, listAttempts: ATTEMPTS, listReplays: REPLAYS, getReplay: REPLAY } = DELIVERY_OPERATIONS;

type Serve = (operation: RestOperation, read: (request: Request) => Promise<ReadAnswer>) => void;

/** What was sent, is to be sent, and was asked for again. */
export const deliveryReads = (dependencies: ReadDependencies): Router => {
  const router = Router();
  const serve: Serve = (operation, read) => {
    router.get(routeOf(operation), demandAdmission(operation), ...dependencies.before, async (request, response) => {
      answerRead(request, response, await read(request));
    });
  };
  serveDeliveries(serve, dependencies);
  serveReplays(serve, dependencies);
  return router;
};

const serveDeliveries = (serve: Serve, { pool, eventLog: { identity } }: ReadDependencies): void => {
  const findWebhook = createWebhookFinder(pool);

  serve(LIST, async (request) => {
    const asked = parametersOf(LIST.query, request.query);
    const { webhookId } = itemOf(LIST, request);
    const shown = { identity, ...(await findWebhook(webhookId, callerOf(request))) };
    return readKeyedList<DeliveryRow, number>({
      path: `/webhooks/${webhookId}/deliveries`,
      asked,
      kindOfKey: 'number',
      read: (stretch) => listDeliveries(pool, { webhookId, filter: asked }, stretch),
      keyOf: deliveryKey,
      represent: (row) => representDelivery(row, shown),
    });
  });

  serve(GET, async (request) => {
    const { webhookId, deliveryId } = itemOf(GET, request);
    const shown = { identity, ...(await findWebhook(webhookId, callerOf(request))) };
    const row = await findDelivery(pool, webhookId, deliveryId);
    if (!row) throw new Rejection('delivery_not_found');
    return { kind: 'item', version: undefined, item: representDelivery(row, shown) };
  });

  serve(ATTEMPTS, async (request) => {
    const asked = parametersOf(ATTEMPTS.query, request.query);
    const { webhookId, deliveryId: eventId } = itemOf(ATTEMPTS, request);
    await findWebhook(webhookId, callerOf(request));
    if (!(await findDelivery(pool, webhookId, eventId))) throw new Rejection('delivery_not_found');
    return readKeyedList<AttemptRow, number>({
      path: `/webhooks/${webhookId}/deliveries/${eventId}/attempts`,
      asked,
      kindOfKey: 'number',
      read: (stretch) => listAttempts(pool, { webhookId, eventId }, stretch),
      keyOf: attemptKey,
      represent: representAttempt,
    });
  });
};

const serveReplays = (serve: Serve, { pool, eventLog: { identity } }: ReadDependencies): void => {
  const findWebhook = createWebhookFinder(pool);

  serve(REPLAYS, async (request) => {
    const asked = parametersOf(REPLAYS.query, request.query);
    const { webhookId } = itemOf(REPLAYS, request);
    await findWebhook(webhookId, callerOf(request));
    return readKeyedList<ReplayRow, string>({
      path: `/webhooks/${webhookId}/replays`,
      asked,
      kindOfKey: 'string',
      read: (stretch) => listReplays(pool, webhookId, stretch),
      keyOf: replayKey,
      represent: (row) => representReplay(row, { identity }),
    });
  });

  serve(REPLAY, async (request) => {
    const { webhookId, replayId } = itemOf(REPLAY, request);
    await findWebhook(webhookId, callerOf(request));
    const row = await findReplay(pool, webhookId, replayId);
    if (!row) throw new Rejection('replay_not_found');
    return { kind: 'item', version: undefined, item: representReplay(row, { identity }) };
  });
};
