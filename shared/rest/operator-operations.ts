import * as z from 'zod';
import { instant } from '#kernel/base/instant.ts';
import { PAGE } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { ANSWERS } from './answers.ts';

/** The operations of operators (administrators), whatever roles and engines the installation has. */

export const NewRelease = z
  .strictObject({
    version: z.int().positive().meta({
      description:
        'The version at which the item is parked. The request is refused if the item is now parked at another version.',
    }),
  })
  .meta({ id: 'NewRelease' });

const read = {
  role: 'query',
  method: 'GET',
  right: 'operations.read',
  refusals: ['forbidden'],
} as const;
const ordered = {
  role: 'query',
  method: 'POST',
  right: 'operations.manage',
  answer: {
    status: 202,
    description: 'The command runs after the response: `Location` has its progress.',
    kind: 'order',
    get schema() {
      return ANSWERS.operators.module.OperatorCommand;
    },
    location: { rel: 'self', path: '/operations/orders/{orderId}' },
  },
} as const;

export const OPERATOR_OPERATIONS = {
  listParkedItems: {
    ...read,
    path: '/operations/parked',
    summary: 'Parked items (administrators)',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of items, by the position of the event that parks them, the latest first.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.ParkedItem;
      },
    },
  },
  listParkedConsequences: {
    ...read,
    path: '/operations/consequences',
    summary: 'Parked consequences of events (administrators)',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of consequences, those parked last first.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.ParkedConsequence;
      },
    },
  },
  listTimers: {
    ...read,
    path: '/operations/timers',
    summary: 'Timers of aggregates that have not run out yet, for administrators',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of timers, the next first, paused ones last.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.RunningTimer;
      },
    },
  },
  listHolds: {
    ...read,
    path: '/operations/holds',
    summary: 'Holds that nobody has released yet, for administrators',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of holds on items of all kinds, the latest first.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.OpenHold;
      },
    },
  },
  listSchedules: {
    ...read,
    path: '/operations/schedules',
    summary: 'Schedules with their next and latest runs, for administrators',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of schedules, by name.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.ScheduleStatus;
      },
    },
  },
  listOrders: {
    ...read,
    path: '/operations/orders',
    summary: 'Operator commands, latest first (administrators)',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of operator commands, without their reports.',
      kind: 'list',
      get schema() {
        return ANSWERS.operators.module.OperatorCommand;
      },
    },
  },
  getOrder: {
    ...read,
    path: '/operations/orders/{orderId}',
    summary: 'The result of an operator command (administrators)',
    answer: {
      status: 200,
      description: 'The operator command.',
      kind: 'item',
      get schema() {
        return ANSWERS.operators.module.OperatorCommand;
      },
    },
  },
  retryParkedItem: {
    ...ordered,
    path: '/operations/parked/{stream}/retry',
    summary: 'Retry a parked item, after its cause is repaired',
    refusals: ['too_many_orders'],
  },
  releaseParkedItem: {
    ...ordered,
    path: '/operations/parked/{stream}/release',
    summary: 'Skip the event that parks an item, permanently',
    body: { 'application/json': NewRelease },
    refusals: ['parked_at_other_version', 'too_many_orders'],
  },
} as const satisfies Record<string, RestOperation>;

/** The operations of the proof. */
export const VERIFICATION_OPERATIONS = {
  verifyLog: {
    ...ordered,
    path: '/audit/verifications',
    summary: 'Verify the log, its chain and signed heads, and the read model',
    refusals: ['verification_under_way', 'too_many_orders'],
  },
} as const satisfies Record<string, RestOperation>;

/** Two of them depend on the served parts. */
export const operatorOperationsOf = (domain: Domain) =>
  ({
    getOperations: {
      ...read,
      path: '/operations',
      summary: 'System status (administrators)',
      answer: {
        status: 200,
        description: 'The positions of all followers of the log.',
        kind: 'item',
        get schema() {
          return ANSWERS.operators.module.statusFor(domain);
        },
      },
    },
    getOperationsSamples: {
      ...read,
      path: '/operations/samples',
      summary: 'System status of the last day (administrators)',
      query: z.strictObject({
        since: instant.optional().meta({ description: 'Only samples after this time.' }),
      }),
      answer: {
        status: 200,
        description: 'Samples every ten seconds or less often, at most 720.',
        kind: 'item',
        get schema() {
          return ANSWERS.operators.module.samplesFor(domain);
        },
      },
    },
    ...OPERATOR_OPERATIONS,
  }) as const satisfies Record<string, RestOperation>;
