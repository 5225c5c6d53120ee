// Over 200 lines, because it is one list: the reads of deliveries over REST.

import { type Request, type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { readKeyedList } from '#edge/rest/pages.ts';
import { answerRead, type ReadAnswer } from '#edge/rest/reads/answer.ts';
import { itemOf } from '#edge/rest/writes/item.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type RestOperation, routeOf } from '#kernel/base/rest/operation.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import { isOfAuditor } from '#shared/policy.ts';
import { DELIVERY_OPERATIONS } from '#shared/rest/deliveries.ts';
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
import {
  representAttempt,
  representDelivery,
  representFailed,
  representFound,
  representReplay,
} from '#shared/webhooks/representation.ts';
import {
  countFailed,
  type FailedRow,
  type FoundRow,
  failedKey,
  foundKey,
  searchDeliveries,
} from '#shared/webhooks/search.ts';
import { readStatistics } from '#shared/webhooks/statistics.ts';
import type { ReadBody } from './body.ts';
import { createWebhookFinder } from './find-webhook.ts';

type ReadDependencies = {
  readonly pool: Pool;
  readonly eventLog: SeeingLog;
  readonly readBody: ReadBody;
  /** Runs after admission, and before any read. */
  readonly before: readonly RequestHandler[];
};

const {
  searchDeliveries: SEARCH,
  listFailedDeliveries: FAILED,
  getWebhookStatistics: STATISTICS,
  listDeliveries: LIST,
  getDelivery: GET,
  getDeliveryBody: BODY,
  listAttempts: ATTEMPTS,
  listReplays: REPLAYS,
  getReplay: REPLAY,
} = DELIVERY_OPERATIONS;

type Serve = (operation: RestOperation, read: (request: Request) => Promise<ReadAnswer>) => void;

/** Reads of deliveries, attempts and replays. */
export const deliveryReads = (dependencies: ReadDependencies): Router => {
  const router = Router();
  const serve: Serve = (operation, read) => {
    router.get(
      routeOf(operation),
      demandAdmission(operation),
      ...dependencies.before,
      async (request, response) => {
        answerRead(request, response, await read(request));
      },
    );
  };
  serveSearches(serve, dependencies);
  serveDeliveries(serve, dependencies);
  serveReplays(serve, dependencies);
  return router;
};

const serveSearches = (serve: Serve, { pool, eventLog }: ReadDependencies): void => {
  const findWebhook = createWebhookFinder(pool);

  serve(SEARCH, async (request) => {
    const asked = parametersOf(SEARCH.query, request.query);
    const caller = callerOf(request);
    return readKeyedList<FoundRow, string>({
      path: SEARCH.path,
      asked,
      kindOfKey: 'string',
      read: (stretch) => searchDeliveries(pool, { caller, filter: asked }, stretch),
      keyOf: foundKey,
      represent: (row) =>
        representFound(isOfAuditor(caller) ? { ...row, is_enabled: false } : row, { eventLog }),
    });
  });

  serve(FAILED, async (request) => {
    const asked = parametersOf(FAILED.query, request.query);
    const caller = callerOf(request);
    return readKeyedList<FailedRow, number>({
      path: FAILED.path,
      asked,
      kindOfKey: 'number',
      read: (stretch) => countFailed(pool, { caller, filter: asked }, stretch),
      keyOf: failedKey,
      represent: (row) => representFailed(row, isOfAuditor(caller)),
    });
  });

  serve(STATISTICS, async (request) => {
    const { hours } = parametersOf(STATISTICS.query, request.query);
    const { webhookId } = itemOf(STATISTICS, request);
    await findWebhook(webhookId, callerOf(request));
    const webhook = `/webhooks/${webhookId}`;
    const _links = { self: { href: `${webhook}/statistics` }, webhook: { href: webhook } };
    return {
      kind: 'item',
      version: undefined,
      item: { webhookId, ...(await readStatistics(pool, webhookId, hours)), _links },
    };
  });
};

const serveDeliveries = (serve: Serve, { pool, eventLog, readBody }: ReadDependencies): void => {
  const findWebhook = createWebhookFinder(pool);

  serve(LIST, async (request) => {
    const asked = parametersOf(LIST.query, request.query);
    const { webhookId } = itemOf(LIST, request);
    const shown = { eventLog, ...(await findWebhook(webhookId, callerOf(request))) };
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
    const shown = { eventLog, ...(await findWebhook(webhookId, callerOf(request))) };
    const row = await findDelivery(pool, webhookId, deliveryId);
    if (!row) throw new Rejection('delivery_not_found');
    return { kind: 'item', version: undefined, item: representDelivery(row, shown) };
  });

  serve(BODY, async (request) => {
    const { webhookId, deliveryId } = itemOf(BODY, request);
    const caller = callerOf(request);
    await findWebhook(webhookId, caller);
    const item = await readBody({ webhookId, eventId: deliveryId }, caller);
    if (!item) throw new Rejection('delivery_not_found');
    return { kind: 'item', version: undefined, item };
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

const serveReplays = (serve: Serve, { pool, eventLog }: ReadDependencies): void => {
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
      represent: (row) => representReplay(row, { eventLog }),
    });
  });

  serve(REPLAY, async (request) => {
    const { webhookId, replayId } = itemOf(REPLAY, request);
    await findWebhook(webhookId, callerOf(request));
    const row = await findReplay(pool, webhookId, replayId);
    if (!row) throw new Rejection('replay_not_found');
    return { kind: 'item', version: undefined, item: representReplay(row, { eventLog }) };
  });
};
