import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type ListedTask, readConsequences } from '#shared/operations/consequences.ts';
import { readInstallationState } from '#shared/operations/installation-state.ts';
import { findOrder } from '#shared/operations/orders.ts';
import { readSamples } from '#shared/operations/samples.ts';
import { type ListedTimer, readTimers } from '#shared/operations/timers.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { Listed } from '#shared/read-model/parked.ts';
import { Rejection } from '#shared/rejection.ts';
import type { OperationsSamples } from '#shared/rest/operator.ts';
import { pathEventId } from '#shared/rest/path-id.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { readKeyedList } from '#shared/webhooks/pages.ts';
import type { Reads } from '../read-routes.ts';
import { readFailureOf } from '../statement.ts';
import { type OrderRow, readOrders, readParked } from './lists.ts';
import {
  representConsequence,
  representOrder,
  representParked,
  representStanding,
  representTimer,
} from './representation.ts';

type OperationsDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>;
};

/** Reads for operators come from the database alone, so every process answers the same. */
export const operationsReads = ({
  domain,
  pool,
  eventLog,
}: OperationsDependencies): Reads<
  | 'getOperations'
  | 'getOperationsSamples'
  | 'listParkedItems'
  | 'listParkedConsequences'
  | 'listTimers'
  | 'listOrders'
  | 'getOrder'
> => ({
  async getOperations({ caller }) {
    const state = await readInstallationState(pool, eventLog).catch(tellFailure);
    const item = representStanding(state, {
      identity: eventLog.identity,
      at: new Date(),
      mayOrder: mayOrder(caller),
    });
    return { kind: 'item', version: undefined, item };
  },

  async getOperationsSamples(_reader, { since }) {
    const { everySeconds, samples } = await readSamples(
      pool,
      since === undefined ? undefined : new Date(since),
    ).catch(tellFailure);
    const item: OperationsSamples = {
      everySeconds,
      samples: samples.map(({ at, followers, ...sample }) => ({
        at: at.toISOString(),
        ...sample,
        followers: { ...followers },
      })),
    };
    return { kind: 'item', version: undefined, item };
  },

  listParkedItems({ caller }, asked): Promise<ListAnswer> {
    return readKeyedList<Listed, number>({
      path: '/operations/parked',
      asked,
      kindOfKey: 'number',
      read: (stretch) => readParked(pool, stretch).catch(tellFailure),
      keyOf: ({ position }) => position,
      represent: (row) =>
        representParked(row, { domain, identity: eventLog.identity, mayOrder: mayOrder(caller) }),
    });
  },

  listParkedConsequences(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<ListedTask, string>({
      path: '/operations/consequences',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readConsequences(pool, stretch).catch(tellFailure),
      keyOf: ({ key }) => key,
      represent: (row) => representConsequence(domain, row),
    });
  },

  listTimers(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<ListedTimer, string>({
      path: '/operations/timers',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readTimers(pool, { stretch }).catch(tellFailure),
      keyOf: ({ key }) => key,
      represent: (row) => representTimer(domain, row),
    });
  },

  listOrders(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<OrderRow, string>({
      path: '/operations/orders',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readOrders(pool, stretch).catch(tellFailure),
      keyOf: ({ id }) => id,
      represent: (row) => representOrder(row),
    });
  },

  async getOrder({ caller, id }) {
    if (!may(caller, 'operations.read', {})) throw new Rejection('forbidden');
    const orderId = pathEventId(id);
    const order = orderId && (await findOrder(pool, orderId).catch(tellFailure));
    if (!order) throw new Rejection('order_not_found');
    return { kind: 'item', version: undefined, item: representOrder(order) };
  },
});

const mayOrder = (caller: Caller): boolean => may(caller, 'operations.manage', {});

const tellFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};
