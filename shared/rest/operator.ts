// Over 200 lines, because it is one table: the schemas of what operators read.
import * as z from 'zod';
import { EXAMPLE_CURSOR } from '#kernel/base/cursor.ts';
import { actor } from '#kernel/base/events/metadata.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { Links } from '#kernel/base/rest/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { report } from './verification-report.ts';

const count = z.int().nonnegative();
const cursor = z.string().meta({ examples: [EXAMPLE_CURSOR] });
const stream = z.string().meta({ examples: ['user-7001'] });
const seconds = z.number().nonnegative().nullable();
const version = z.int().positive();

const StatusWithWebhooks = z
  .strictObject({
    at: timestamp,
    log: z.strictObject({ cursor: cursor.meta({ description: 'The end of the log.' }) }),
    readModel: z.strictObject({
      cursor: cursor.meta({ description: 'The last event that the read model has applied.' }),
      behindSeconds: seconds.meta({
        description: 'The age of the oldest event that it has not applied yet; null if it is unknown.',
      }),
      parked: count.meta({
        description: 'Number of items that cannot be read because of one of their events.',
      }),
      skipped: count.meta({ description: 'Number of events that operators have skipped.' }),
      bytes: count,
      isOfThisRelease: z.boolean().meta({
        description: 'Whether its tables match the release of the projector. If not, a rebuild is necessary.',
      }),
      rebuild: z
        .strictObject({ cursor })
        .nullable()
        .meta({ description: 'Progress of a running rebuild; null if none runs.' }),
    }),
    followers: z
      .array(
        z.strictObject({
          name: z.string().meta({ examples: ['process-manager'] }),
          cursor: cursor
            .nullable()
            .meta({ description: 'Its checkpoint; null if that belongs to another log.' }),
          behindSeconds: seconds,
          isRunning: z.boolean().meta({ description: 'Whether a process runs it at the moment.' }),
        }),
      )
      .meta({ description: 'Every follower that this installation has had, by name.' }),
    consequences: z
      .strictObject({
        parked: count.meta({ description: 'Number of consequences that are retried.' }),
        skipped: count.meta({ description: 'Number of consequences that operators have skipped.' }),
        oldestSeconds: seconds.meta({
          description: 'How long the oldest retried one has been parked; null if there is none.',
        }),
      })
      .meta({
        description: 'Failed consequences of events: ends of children and webhooks, erasures, and reactions.',
      }),
    webhooks: z.strictObject({
      endpoints: count,
      enabled: count,
      due: count.meta({
        description: 'Number of deliveries that wait for their first or next attempt; counted up to 100,000.',
      }),
      dead: count.meta({ description: 'Number of dead letters; counted up to 100,000.' }),
      failing: count.meta({
        description:
          'Number of webhooks whose last attempt failed, including those that were disabled for it.',
      }),
      failingSince: timestamp
        .nullable()
        .meta({ description: 'When the first of these webhooks started to fail; null if none fails.' }),
    }),
    _links: Links,
  })
  .meta({ id: 'OperationsStatus' });
const StatusAlone = StatusWithWebhooks.omit({ webhooks: true })
  .extend({
    consequences: StatusWithWebhooks.shape.consequences.meta({
      description: 'Failed consequences of events: ends of children, erasures, and reactions.',
    }),
  })
  .meta({ id: 'OperationsStatus' });
export type OperationsStatus = Readonly<z.infer<typeof StatusAlone>> &
  Partial<Readonly<Pick<z.infer<typeof StatusWithWebhooks>, 'webhooks'>>>;

const Sample = z.strictObject({
  at: timestamp,
  events: count.meta({
    description: 'Number of events in the hash chain.',
  }),
  followers: z.record(z.string(), seconds).meta({ description: 'The lag of each follower in seconds.' }),
  parked: count,
  due: count,
  dead: count,
  deliveredPerSecond: z
    .number()
    .nonnegative()
    .meta({ description: 'Successful deliveries to webhooks per second.' }),
});

const OF_WEBHOOKS = { due: true, dead: true, deliveredPerSecond: true } as const;
const OF_PROOF = { events: true } as const;

const samplesOf = <Each extends z.ZodObject>(sample: Each) =>
  z
    .strictObject({
      everySeconds: z.int().positive().meta({ description: 'Interval between two samples.' }),
      samples: z.array(sample),
    })
    .meta({ id: 'OperationsSamples' });
type Sampled = z.infer<typeof Sample>;
type OfParts = keyof typeof OF_WEBHOOKS | keyof typeof OF_PROOF;
export type OperationsSamples = {
  readonly everySeconds: number;
  readonly samples: (Omit<Sampled, OfParts> & Partial<Pick<Sampled, OfParts>>)[];
};

export const ParkedItem = z
  .strictObject({
    stream,
    version: version.meta({ description: 'The version of the event that parks it.' }),
    type: z.string().meta({ examples: ['user.updated'] }),
    cursor: cursor.meta({ description: 'The position of that event in the log.' }),
    reason: z.string().meta({
      description: 'Why the event cannot be applied. Names fields and rules, but contains no values.',
    }),
    since: timestamp,
    _links: Links,
  })
  .meta({ id: 'ParkedItem' });
export type ParkedItem = Readonly<z.infer<typeof ParkedItem>>;

export const ParkedConsequence = z
  .strictObject({
    task: z.enum(['end', 'erase', 'run', 'react']).meta({
      description:
        '`end`: the end of a child whose parent has ended. `erase`: the erasure of a deleted user. `run`: a command of a reaction. `react`: code that reacts to an event.',
    }),
    name: z
      .string()
      .exactOptional()
      .meta({ description: 'For reactions: the reference and the event, or the name of the event.' }),
    stream: z.string().meta({
      description: 'The stream of the child, of the user, or of the aggregate that reacts.',
      examples: ['webhook-6001'],
    }),
    cause: z.uuid().meta({ description: 'The id of the event that caused it.' }),
    reason: z.string().meta({ description: 'Why the last attempt failed.' }),
    attempts: count,
    since: timestamp,
    nextAt: timestamp.nullable().meta({ description: 'Time of the next retry; null if it is skipped.' }),
    skippedAt: timestamp
      .nullable()
      .meta({ description: 'When an operator skipped it; null if it is retried.' }),
    _links: Links,
  })
  .meta({ id: 'ParkedConsequence' });
export type ParkedConsequence = Readonly<z.infer<typeof ParkedConsequence>>;

export const RunningTimer = z
  .strictObject({
    stream: z.string().meta({ description: 'The stream of the aggregate.', examples: ['claim-8001'] }),
    name: z.string().meta({ description: 'The name of the timer in the domain.', examples: ['remind'] }),
    cause: z.uuid().meta({ description: 'The id of the event that started it.' }),
    dueAt: timestamp.nullable().meta({ description: 'When it runs out; null while it is paused.' }),
    leftSeconds: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: 'Remaining seconds while it is paused; otherwise null.' }),
    _links: Links,
  })
  .meta({ id: 'RunningTimer' });
export type RunningTimer = Readonly<z.infer<typeof RunningTimer>>;

export const OpenHold = z
  .strictObject({
    stream: z
      .string()
      .meta({ description: 'The stream of the item under a hold.', examples: ['claim-8001'] }),
    hold: z.int().meta({ description: 'The number of the hold at the item.', examples: [1] }),
    reason: z.string().meta({ description: 'Why the item must be kept.', examples: ['Litigation 2026-117'] }),
    placedBy: z.int().meta({ description: 'The id of the user who placed it, and cannot release it.' }),
    placedAt: timestamp.meta({ description: 'When it was placed.' }),
    _links: Links,
  })
  .meta({ id: 'OpenHold' });
export type OpenHold = Readonly<z.infer<typeof OpenHold>>;

export const ScheduleStatus = z
  .strictObject({
    name: z
      .string()
      .meta({ description: 'The name of the schedule in the domain.', examples: ['nightly-report'] }),
    cron: z.string().meta({ description: 'Its cron expression.', examples: ['30 2 * * *'] }),
    timeZone: z
      .string()
      .meta({ description: 'The time zone of the expression, by IANA.', examples: ['Europe/Berlin'] }),
    nextAt: timestamp.nullable().meta({ description: 'When it runs next; null if never again.' }),
    lastAt: timestamp.nullable().meta({ description: 'The time of its latest run; null before the first.' }),
    state: z.enum(['running', 'done', 'retrying', 'failed']).nullable().meta({
      description:
        'The outcome of the latest run: commands are executed, all were, failed ones are retried, or failed ones are no longer retried. Null before the first.',
    }),
    commands: z.int().min(0).meta({ description: 'How many commands the latest run has sent so far.' }),
    failed: z.int().min(0).meta({ description: 'How many of these have failed.' }),
    reason: z.string().nullable().meta({ description: 'Why one of them failed; null if none did.' }),
    requestedBy: actor.nullable().meta({
      description:
        'The user who had the latest run made beside its times, or `system:command-line`. Null if it came by its time.',
    }),
    missedAt: timestamp.nullable().meta({
      description: 'The latest time at which no process ran it, and which was skipped; null if none.',
    }),
  })
  .meta({ id: 'ScheduleStatus' });
export type ScheduleStatus = Readonly<z.infer<typeof ScheduleStatus>>;

export const OperatorCommand = z
  .strictObject({
    id: z.uuid(),
    kind: z.enum(['retry', 'release', 'verify']),
    stream: stream.exactOptional().meta({ description: 'For `retry` and `release`: the parked item.' }),
    version: version
      .exactOptional()
      .meta({ description: 'For `release`: the version of the event to skip.' }),
    by: actor.meta({ description: 'The user who requested it.' }),
    requestedAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
    state: z.enum(['waiting', 'running', 'done', 'failed']).meta({
      description:
        '`failed` if the item stays parked, or the command could not be executed. A verification that finds differences is `done`.',
    }),
    outcome: z.string().nullable().meta({ description: 'The result in words, after it has finished.' }),
    progress: z.strictObject({ done: count, of: count.nullable() }).exactOptional().meta({
      description:
        'Progress of a verification through the log: in events, or in bytes of the log with EventStoreDB.',
    }),
    report: report.exactOptional().meta({
      description:
        'The report of a finished verification, as `annals audit verify --json` prints it. Lists of operator commands do not have it.',
    }),
    _links: Links,
  })
  .meta({ id: 'Order' });
export type OperatorCommand = z.infer<typeof OperatorCommand>;

/** The status, without what states the deliveries to webhooks if they are not served. */
export const statusFor = (domain: Domain) => (serves(domain, 'webhooks') ? StatusWithWebhooks : StatusAlone);

/** The samples, without what states the deliveries to webhooks and the proof if they are not served. */
export const samplesFor = oncePer((domain: Domain) =>
  samplesOf(
    Sample.omit({
      ...(serves(domain, 'webhooks') ? {} : OF_WEBHOOKS),
      ...(serves(domain, 'proof') ? {} : OF_PROOF),
    }),
  ),
);
