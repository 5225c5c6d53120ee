// Over 200 lines, because it is one table: the operations of operators, with their schemas.
import * as z from 'zod';
import { timestamp } from '#kernel/declare/values.ts';
import { report } from '#shared/audit/verification-report.ts';
import { actor } from '#shared/events/metadata.ts';
import { instant } from '#shared/instant.ts';
import { Links } from './fields.ts';
import { PAGE } from './lists.ts';
import type { RestOperation } from './operation.ts';

/** The operations of operators (administrators), whatever roles and engines the installation has. */

const count = z.int().nonnegative();
const cursor = z.string().meta({ examples: ['6f9619ff-1z4'] });
const stream = z.string().meta({ examples: ['user-7001'] });
const seconds = z.number().nonnegative().nullable();
const version = z.int().positive();

const OperationsStatus = z
  .strictObject({
    at: timestamp,
    log: z.strictObject({ cursor: cursor.meta({ description: 'The end of the log.' }) }),
    readModel: z.strictObject({
      cursor: cursor.meta({ description: 'The read model.' }),
      behindSeconds: seconds.meta({
        description:
          'How long the oldest event that it has not yet has been in the log; null where nobody can say.',
      }),
      parked: count.meta({ description: 'Items that cannot be read, because of one of their events.' }),
      skipped: count.meta({ description: 'Events that operators have skipped.' }),
      bytes: count,
      isOfThisRelease: z
        .boolean()
        .meta({ description: 'Whether its tables are those of the projector; a rebuild makes them so.' }),
      rebuild: z
        .strictObject({ cursor })
        .nullable()
        .meta({ description: 'How far a rebuild is that is under way.' }),
    }),
    followers: z
      .array(
        z.strictObject({
          name: z.string().meta({ examples: ['process-manager'] }),
          cursor: cursor
            .nullable()
            .meta({ description: 'How far it is; null where it followed another log.' }),
          behindSeconds: seconds,
          isRunning: z.boolean().meta({ description: 'Whether some process has it in hand.' }),
        }),
      )
      .meta({ description: 'All that ever followed the log here, by name.' }),
    consequences: z
      .strictObject({
        parked: count.meta({ description: 'Those that are retried.' }),
        skipped: count.meta({ description: 'Those that an operator has left as they are.' }),
        oldestSeconds: seconds.meta({
          description:
            'How long the oldest of those that are retried has been parked; null if there is none.',
        }),
      })
      .meta({
        description:
          'Consequences of events that failed: ends of children and webhooks, erasures, and reactions.',
      }),
    webhooks: z.strictObject({
      endpoints: count,
      enabled: count,
      due: count.meta({
        description: 'Deliveries that wait for their first or next attempt, up to 100,000.',
      }),
      dead: count.meta({ description: 'Deliveries that were given up, up to 100,000.' }),
      failing: count.meta({
        description: 'Webhooks whose last attempt failed, those that were disabled for it included.',
      }),
      failingSince: timestamp
        .nullable()
        .meta({ description: 'When the first of them began to fail; null if none fails.' }),
    }),
    _links: Links,
  })
  .meta({ id: 'OperationsStatus' });
export type OperationsStatus = Readonly<z.infer<typeof OperationsStatus>>;

const OperationsSamples = z
  .strictObject({
    everySeconds: z.int().positive().meta({ description: 'How far apart they are.' }),
    samples: z.array(
      z.strictObject({
        at: timestamp,
        events: count.meta({
          description: 'How many events there were, as the chain of hashes counts them.',
        }),
        followers: z.record(z.string(), seconds).meta({ description: 'How many seconds each was behind.' }),
        parked: count,
        due: count,
        dead: count,
        deliveredPerSecond: z
          .number()
          .nonnegative()
          .meta({ description: 'Deliveries to webhooks that arrived.' }),
      }),
    ),
  })
  .meta({ id: 'OperationsSamples' });
export type OperationsSamples = Readonly<z.infer<typeof OperationsSamples>>;

const ParkedItem = z
  .strictObject({
    stream,
    version: version.meta({ description: 'Of the event that parks it.' }),
    type: z.string().meta({ examples: ['user.updated'] }),
    cursor: cursor.meta({ description: 'The place of that event in the log.' }),
    reason: z.string().meta({ description: 'Names fields and rules, and nothing of what is in them.' }),
    since: timestamp,
    _links: Links,
  })
  .meta({ id: 'ParkedItem' });
export type ParkedItem = Readonly<z.infer<typeof ParkedItem>>;

const ParkedConsequence = z
  .strictObject({
    task: z.enum(['end', 'erase', 'run', 'react']).meta({
      description:
        '`end`: a child whose parent is gone. `erase`: a user who was deleted. `run`: a command of a reaction. `react`: code that reacts to an event.',
    }),
    name: z
      .string()
      .exactOptional()
      .meta({ description: 'Of a reaction: by which reference to which event, or the name of the event.' }),
    stream: z.string().meta({
      description: 'Of the child, the user, or the aggregate that reacts.',
      examples: ['webhook-6001'],
    }),
    cause: z.uuid().meta({ description: 'The id of the event that it follows from.' }),
    reason: z.string().meta({ description: 'Why the last attempt failed.' }),
    attempts: count,
    since: timestamp,
    nextAt: timestamp.nullable().meta({ description: 'When it is retried; null if it is skipped.' }),
    skippedAt: timestamp.nullable().meta({ description: 'When an operator left it as it is.' }),
    _links: Links,
  })
  .meta({ id: 'ParkedConsequence' });
export type ParkedConsequence = Readonly<z.infer<typeof ParkedConsequence>>;

const RunningTimer = z
  .strictObject({
    stream: z.string().meta({ description: 'Of the aggregate.', examples: ['claim-8001'] }),
    name: z.string().meta({ description: 'As the domain declares it.', examples: ['remind'] }),
    cause: z.uuid().meta({ description: 'The id of the event that started it.' }),
    dueAt: timestamp.nullable().meta({ description: 'When it runs out; null while it is paused.' }),
    leftSeconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'The time that remains, while it is paused.' }),
    _links: Links,
  })
  .meta({ id: 'RunningTimer' });
export type RunningTimer = Readonly<z.infer<typeof RunningTimer>>;

const Order = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(['retry', 'release', 'verify']),
    stream: stream.exactOptional().meta({ description: 'Of `retry` and `release`.' }),
    version: version.exactOptional().meta({ description: 'Of `release`: the event that is to be left out.' }),
    by: actor.meta({ description: 'The user who requested it.' }),
    requestedAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    state: z.enum(['waiting', 'running', 'done', 'failed']).meta({
      description:
        '`failed` where the item stays parked, or it could not be carried out; a verification that finds differences is `done`.',
    }),
    outcome: z.string().nullable().meta({ description: 'The result in words, after it has finished.' }),
    progress: z.strictObject({ done: count, of: count.nullable() }).exactOptional().meta({
      description: 'How far a verification has read the log: events, on EventStoreDB bytes of its log.',
    }),
    report: report.exactOptional().meta({
      description:
        'Of a verification that is done, where the order is read alone: what `annals audit verify --json` prints.',
    }),
    _links: Links,
  })
  .meta({ id: 'Order' });
export type Order = z.infer<typeof Order>;

export const NewRelease = z
  .strictObject({
    version: version.meta({
      description: 'The version that the item is parked at: it may be another by now.',
    }),
  })
  .meta({ id: 'NewRelease' });

const read = { role: 'query', method: 'GET', right: 'operations.read' } as const;
const ordered = {
  role: 'query',
  method: 'POST',
  right: 'operations.manage',
  answer: {
    status: 202,
    description: 'The command runs after the response: `Location` has its progress.',
    kind: 'order',
    schema: Order,
    location: { rel: 'self', path: '/operations/orders/{orderId}' },
  },
} as const;

export const OPERATOR_OPERATIONS = {
  getOperations: {
    ...read,
    path: '/operations',
    summary: 'System status (administrators)',
    answer: {
      status: 200,
      description: 'How far everything is that follows the log.',
      kind: 'item',
      schema: OperationsStatus,
    },
  },
  getOperationsSamples: {
    ...read,
    path: '/operations/samples',
    summary: 'System status of the last day (administrators)',
    query: z.strictObject({ since: instant.optional().meta({ description: 'Only what was noted later.' }) }),
    answer: {
      status: 200,
      description: 'Every ten seconds, or less often: at most 720.',
      kind: 'item',
      schema: OperationsSamples,
    },
  },
  listParkedItems: {
    ...read,
    path: '/operations/parked',
    summary: 'Parked items (administrators)',
    query: z.strictObject(PAGE),
    answer: {
      status: 200,
      description: 'A page of items, by the place of that event, the latest first.',
      kind: 'list',
      schema: ParkedItem,
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
      schema: ParkedConsequence,
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
      schema: RunningTimer,
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
      schema: Order,
    },
  },
  getOrder: {
    ...read,
    path: '/operations/orders/{orderId}',
    summary: 'The result of an operator command (administrators)',
    answer: { status: 200, description: 'The order.', kind: 'item', schema: Order },
  },
  retryParkedItem: {
    ...ordered,
    path: '/operations/parked/{stream}/retry',
    summary: 'Retry a parked item, after its cause is repaired',
  },
  releaseParkedItem: {
    ...ordered,
    path: '/operations/parked/{stream}/release',
    summary: 'Skip the event that parks an item, permanently',
    body: { 'application/json': NewRelease },
  },
  verifyLog: {
    ...ordered,
    path: '/audit/verifications',
    summary: 'Verify the log, its chain and signed heads, and the read model',
  },
} as const satisfies Record<string, RestOperation>;
