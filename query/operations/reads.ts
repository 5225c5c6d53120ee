import { readKeyedList } from '#edge/rest/pages.ts';
import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import { idIn, kindIn } from '#kernel/base/events/streams.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ListedTask, readConsequences } from '#process/operations/consequences.ts';
import { type ListedHold, readHolds } from '#process/operations/holds.ts';
import { readInstallationState } from '#process/operations/installation-state.ts';
import { findOperatorCommand } from '#process/operations/operator-commands.ts';
import { readSamples } from '#process/operations/samples.ts';
import { type ListedSchedule, readSchedules } from '#process/operations/schedules.ts';
import { type ListedTimer, readTimers } from '#process/operations/timers.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import { type Caller, may } from '#shared/policy.ts';
import { noteOf } from '#shared/read-log/noted.ts';
import type { OperationsSamples } from '#shared/rest/operator.ts';
import type { Reads } from '../rest/read-routes.ts';
import { readFailureOf } from '../rows/statement.ts';
import { type KeyedParked, type OperatorCommandRow, readOperatorCommands, readParked } from './lists.ts';
import {
  representConsequence,
  representHold,
  representOperatorCommand,
  representParked,
  representSchedule,
  representStanding,
  representTimer,
} from './representation.ts';

type OperationsDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: SeeingLog & Pick<EventLog, 'head' | 'follow'>;
  readonly clock: Clock;
};

type OperationsReads = Reads<
  | 'getOperations'
  | 'getOperationsSamples'
  | 'listParkedItems'
  | 'listParkedConsequences'
  | 'listTimers'
  | 'listHolds'
  | 'listSchedules'
  | 'listOrders'
  | 'getOrder'
>;

/** Reads for operators come from the database alone, so every process answers the same. */
export const operationsReads = ({
  domain,
  pool,
  eventLog,
  clock,
}: OperationsDependencies): OperationsReads => ({
  async getOperations({ caller }) {
    const state = await readInstallationState(domain, pool, eventLog).catch(throwReadFailure);
    const shown = { domain, eventLog, at: new Date(clock.nowMs()), mayManage: mayManage(caller) };
    const item = representStanding(state, shown);
    return { kind: 'item', version: undefined, item };
  },

  async getOperationsSamples(_reader, { since }) {
    const [hasWebhooks, hasProof] = [serves(domain, 'webhooks'), serves(domain, 'proof')];
    const { everySeconds, samples } = await readSamples(
      pool,
      since === undefined ? undefined : new Date(since),
    ).catch(throwReadFailure);
    const item: OperationsSamples = {
      everySeconds,
      samples: samples.map(({ at, events, followers, parked, ...ofWebhooks }) => ({
        at: at.toISOString(),
        parked,
        ...(hasProof && { events }),
        ...(hasWebhooks && ofWebhooks),
        followers: { ...followers },
      })),
    };
    return { kind: 'item', version: undefined, item };
  },

  listParkedItems({ caller }, asked): Promise<ListAnswer> {
    return readKeyedList<KeyedParked, string>({
      path: '/operations/parked',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readParked(pool, stretch).catch(throwReadFailure),
      keyOf: ({ key }) => key,
      represent: (row) => representParked(row, { domain, eventLog, mayManage: mayManage(caller) }),
    });
  },

  listParkedConsequences(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<ListedTask, string>({
      path: '/operations/consequences',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readConsequences(pool, stretch).catch(throwReadFailure),
      keyOf: ({ key }) => key,
      represent: (row) => representConsequence(domain, row),
    });
  },

  listTimers(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<ListedTimer, string>({
      path: '/operations/timers',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readTimers(pool, { stretch }).catch(throwReadFailure),
      keyOf: ({ key }) => key,
      represent: (row) => representTimer(domain, row),
    });
  },

  listHolds: listHoldsIn(domain, pool),
  listSchedules: listSchedulesIn(pool),

  listOrders(_reader, asked): Promise<ListAnswer> {
    return readKeyedList<OperatorCommandRow, string>({
      path: '/operations/orders',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readOperatorCommands(pool, stretch).catch(throwReadFailure),
      keyOf: ({ id }) => id,
      represent: (row) => representOperatorCommand(row),
    });
  },

  async getOrder({ caller, id }) {
    if (!may(caller, 'operations.read', {})) throw new Rejection('forbidden');
    const orderId = pathEventId(id);
    const command = orderId && (await findOperatorCommand(pool, orderId).catch(throwReadFailure));
    if (!command) throw new Rejection('order_not_found');
    return { kind: 'item', version: undefined, item: representOperatorCommand(command) };
  },
});

const listHoldsIn = (domain: Domain, pool: Pool): Reads<'listHolds'>['listHolds'] => {
  const notes = new Map(Object.values(domain.kinds).map((kind) => [kind.name, noteOf(kind)]));
  return (_reader, asked) =>
    readKeyedList<ListedHold, string>({
      path: '/operations/holds',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readHolds(domain, pool, stretch).catch(throwReadFailure),
      keyOf: ({ key }) => key,
      represent(row) {
        notes.get(kindIn(row.stream))?.(idIn(row.stream), ['holds']);
        return representHold(domain, row);
      },
    });
};

const listSchedulesIn =
  (pool: Pool): Reads<'listSchedules'>['listSchedules'] =>
  (_reader, asked) =>
    readKeyedList<ListedSchedule, string>({
      path: '/operations/schedules',
      asked,
      kindOfKey: 'string',
      read: (stretch) => readSchedules(pool, stretch).catch(throwReadFailure),
      keyOf: ({ name }) => name,
      represent: representSchedule,
    });

const mayManage = (caller: Caller): boolean => may(caller, 'operations.manage', {});

const throwReadFailure = (cause: unknown): never => {
  throw readFailureOf(cause);
};
