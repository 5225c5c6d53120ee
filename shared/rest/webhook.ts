import * as z from 'zod';
import { spaced } from '#kernel/base/names.ts';
import { createdAt, id, Links, updatedAt } from '#kernel/base/rest/fields.ts';
import { timestamp } from '#kernel/base/values.ts';
import { type EventReference, filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { disabledReason, filterSchema, format } from '#kernel/webhook/webhook-fields.ts';
import { HIDDEN_VALUE } from '#shared/commands/webhook.ts';
import { Withheld } from './withheld.ts';

/** Counting stops here, so that it costs the same for any backlog. */
export const BACKLOG_COUNTED_MAX = 10_000;

export const WebhookHealth = z
  .strictObject({
    lastSuccessAt: timestamp
      .nullable()
      .meta({ description: 'Time of the last successful delivery, accurate to the second.' }),
    lastFailure: z
      .strictObject({
        at: timestamp,
        status: z.int().nullable().meta({ description: 'Status of the response; null if there was none.' }),
        reason: z
          .string()
          .meta({ description: 'The error in words.', examples: ['The connection was refused.'] }),
      })
      .nullable()
      .meta({ description: 'The last attempt that failed.' }),
    failingSince: timestamp
      .nullable()
      .meta({ description: 'Every attempt since this time failed; null if the last one succeeded.' }),
    failuresInRow: z.int().nonnegative(),
    pausedUntil: timestamp.nullable().meta({
      description:
        'No delivery is sent before this time: too many attempts failed, the receiver asked for a pause, or an ordered delivery waits for its next attempt.',
    }),
    nextAttemptAt: timestamp
      .nullable()
      .meta({ description: 'Time of the next attempt; null if none waits.' }),
    attemptsLastDay: z.int().nonnegative().meta({ description: 'Number of attempts in the last 24 hours.' }),
    failuresLastDay: z
      .int()
      .nonnegative()
      .meta({ description: 'Number of failed attempts in the last 24 hours.' }),
    successRate: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({
        description:
          'The share of attempts that succeeded in the last 24 hours, from 0 to 1; null if there were none.',
        examples: [0.98],
      }),
    backlog: z.strictObject({
      due: z
        .int()
        .nonnegative()
        .meta({ description: `Number of waiting deliveries; counted up to ${BACKLOG_COUNTED_MAX}.` }),
      oldestAt: timestamp.nullable().meta({ description: 'When the oldest waiting delivery was planned.' }),
      dead: z
        .int()
        .nonnegative()
        .meta({
          description: `Number of dead letters: deliveries whose last attempt failed; counted up to ${BACKLOG_COUNTED_MAX}.`,
        }),
    }),
  })
  .meta({ id: 'WebhookHealth' });
export type WebhookHealth = Readonly<z.infer<typeof WebhookHealth>>;

export const webhookOf = (domain: Domain) =>
  z
    .strictObject({
      id,
      ownerId: id.meta({
        readOnly: true,
        description: 'The owner, whose rights decide what is sent.',
        examples: [1001],
      }),
      url: z.string().meta({ description: 'Changes are sent to this URL by POST.' }),
      description: z.string().nullable(),
      eventTypes: z
        .array(z.string())
        .meta({ description: 'Types of `/event-types`, all types of a kind (`user.*`), or all (`*`).' }),
      filter: (
        filterSchema(domain, id.exactOptional()) as unknown as z.ZodType<{ [name: string]: number }>
      ).meta({
        description: filteredBy(domain),
      }),
      payload: z.enum(['thin', 'full']).meta({
        description: 'Whether `data` has only ids (`thin`), or all fields that the owner may read (`full`).',
      }),
      format: format.meta({
        description:
          'The form of requests: our own (`annals`), or CloudEvents 1.0 in the body (`cloudevents`), or with its attributes in headers (`cloudevents_binary`).',
      }),
      ordered: z.boolean().meta({
        description: 'Whether each delivery waits until the one before it has succeeded or is a dead letter.',
      }),
      limits: z.strictObject({ ratePerSecond: z.int(), concurrency: z.int() }),
      headers: z
        .record(z.string(), z.literal(HIDDEN_VALUE))
        .meta({ description: 'Additional request headers; their values are never shown.' }),
      scopes: z.array(z.string()).meta({
        readOnly: true,
        description:
          'The scopes of the token that last changed the settings. The webhook gets only data that this token may read.',
      }),
      enabled: z.boolean().meta({ readOnly: true }),
      status: z.enum(['enabled', 'disabled']).meta({ readOnly: true }),
      disabledReason: disabledReason.exactOptional().meta({
        readOnly: true,
        description: 'Why it is disabled: by a person, after days of failures, or by a response of 410.',
      }),
      missedSince: z.string().exactOptional().meta({
        readOnly: true,
        description: 'Events after this cursor were not sent and not replayed yet.',
      }),
      secretsEndAt: timestamp.exactOptional().meta({
        readOnly: true,
        description: 'Until this time requests are signed with the former secrets as well.',
      }),
      withheld: z.array(Withheld).exactOptional().meta({
        readOnly: true,
        description:
          'Event types of `eventTypes` that are not sent, and why; only for a single webhook in its current state. Filters are not considered.',
      }),
      health: WebhookHealth.exactOptional().meta({
        readOnly: true,
        description:
          'State of its deliveries; only for a webhook in its current state, once a dispatcher has read it.',
      }),
      createdAt,
      updatedAt,
      _links: Links,
    })
    .meta({ id: 'Webhook' });
export type Webhook = Readonly<z.infer<ReturnType<typeof webhookOf>>>;

const filteredBy = (domain: Domain): string => {
  const found = [...filtersOf(domain).values()].map(filtered);
  return found.length === 0 ? 'This domain has no filters.' : `Only events of ${found.join(', or of ')}.`;
};

const filtered = ({ kind, name, others }: EventReference): string =>
  kind === undefined ? `${others} of this ${spaced(name)}` : `this ${spaced(kind)} and its ${others}`;
