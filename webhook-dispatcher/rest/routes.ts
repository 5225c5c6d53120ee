import { type RequestHandler, Router } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { demandAdmission } from '#edge/rest/admission.ts';
import { awaitConsistency } from '#edge/rest/reads/consistency.ts';
import { itemOf } from '#edge/rest/writes/item.ts';
import { type WriteDependencies, writeRoutes } from '#edge/rest/writes/write-routes.ts';
import type { Position } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { routeOf } from '#kernel/base/rest/operation.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { poll } from '#shared/clock/poll.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import { DELIVERY_OPERATIONS } from '#shared/rest/deliveries.ts';
import { demandFewReplays, findDelivery } from '#shared/webhooks/deliveries.ts';
import { PLANNER } from '#shared/webhooks/planner.ts';
import type { ReadBody } from './body.ts';
import { createWebhookFinder } from './find-webhook.ts';
import { deliveryReads } from './reads.ts';

type RouteDependencies = WriteDependencies & {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head'>;
  readonly readBody: ReadBody;
  readonly clock: Clock;
};

const VISIBLE_WITHIN_MS = 5_000;

/** Reads of deliveries, and checks before manual requests. */
export const deliveryRoutes = (dependencies: RouteDependencies): Router => {
  const { pool, eventLog, clock, readBody } = dependencies;
  const readPosition = openPlannedPosition(pool, clock);
  const before = [awaitConsistency({ readPosition, eventLog, waitMaxMs: VISIBLE_WITHIN_MS })];
  const { redeliver, replayWebhook } = DELIVERY_OPERATIONS;
  return Router()
    .use(deliveryReads({ pool, eventLog, readBody, before }))
    .post(routeOf(redeliver), demandAdmission(redeliver), ...before, demandDelivery(pool))
    .post(routeOf(replayWebhook), demandAdmission(replayWebhook), demandRoomForReplay(pool))
    .use(
      writeRoutes(dependencies, '/webhooks', {
        testWebhook: (item) => ({ type: 'TestWebhook', ...item }),
        replayWebhook: (item, span) => ({ type: 'ReplayWebhook', ...item, ...span }),
        redeliver: (item) => ({ type: 'RedeliverDelivery', ...item }),
        redriveWebhook: (item, which) => ({ type: 'RedriveWebhook', ...item, ...which }),
      }),
    );
};

/** The log does not contain deliveries. */
const demandDelivery = (pool: Pool): RequestHandler => {
  const findWebhook = createWebhookFinder(pool);
  return async (request, _response, next) => {
    const { webhookId, deliveryId } = itemOf(DELIVERY_OPERATIONS.redeliver, request);
    await findWebhook(webhookId, callerOf(request));
    const row = await findDelivery(pool, webhookId, deliveryId);
    if (!row) throw new Rejection('delivery_not_found');
    next();
  };
};

/** Nor does it contain the progress of replays. */
const demandRoomForReplay = (pool: Pool): RequestHandler => {
  const findWebhook = createWebhookFinder(pool);
  return async (request, _response, next) => {
    const { webhookId } = itemOf(DELIVERY_OPERATIONS.replayWebhook, request);
    await demandFewReplays(pool, webhookId, () => findWebhook(webhookId, callerOf(request)));
    next();
  };
};

const LOOK_EVERY_MS = 25;

/**
 * The position of planning, which never passes that of the read model; concurrent requests share a look-up.
 */
const openPlannedPosition = (pool: Pool, clock: Clock): Pick<ReadPosition, 'reaches'> => {
  const look = coalesce<string, Position>(async ([follower = PLANNER]) => {
    const checkpoint = await readCheckpoint(pool, follower);
    return new Map(checkpoint ? [[follower, checkpoint.position]] : []);
  });
  return {
    reaches: (position, withinMs, signal) =>
      poll(
        { clock, everyMs: LOOK_EVERY_MS, withinMs, signal },
        async () => ((await look(PLANNER)) ?? 0) >= position,
      ),
  };
};
