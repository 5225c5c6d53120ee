// Over 200 lines, because it is one table: what happens to a webhook has one place.
import * as z from 'zod';
import { text, timestamp } from '#kernel/declare/values.ts';
import { snake } from '#kernel/registry/names.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { JsonObject } from '#shared/json.ts';
import { defineEvent } from './define-event.ts';
import { filtersOf } from './event-references.ts';
import { beginning, end, userId, webhookId } from './fields.ts';
import { placedWithoutLog } from './places.ts';

const stream = { kind: 'webhook', key: 'webhookId' } as const;
const mark = z.strictObject({ webhookId, ownerId: userId });
const markExample = { webhookId: 6001, ownerId: 7001 };

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 500;
const EVENT_TYPES_MAX = 100;
const RATE_PER_SECOND_MAX = 1_000;
const CONCURRENCY_MAX = 50;
export const HEADERS_MAX = 10;
const HEADER_VALUE_CHARACTERS_MAX = 1_000;

/** Where it is delivered to. */
export const url = text(URL_CHARACTERS_MAX).meta({ maxLength: URL_CHARACTERS_MAX, format: 'uri', pattern: undefined });
export const description = text(DESCRIPTION_CHARACTERS_MAX).nullable();

/** A type, all of one family (`article.*`), or all (`*`); what it stands for is found when an event is matched with it. */
const eventPattern = z.string().regex(/^(?:\*|[a-zA-Z0-9]{1,40}\.(?:\*|[a-zA-Z0-9_]{1,60}))$/, {
  error: 'Must be a type of event, all of a kind (`article.*`), or all (`*`).',
});
export const eventTypes: z.ZodType<readonly string[], readonly string[]> = z
  .array(eventPattern)
  .min(1)
  .max(EVENT_TYPES_MAX)
  .refine((values) => new Set(values).size === values.length, { error: 'Must not repeat a type.' })
  .meta({ uniqueItems: true });

/** Only what happens to what these lead to, by the filters of the domain. */
export type WebhookFilter = { readonly [name: string]: number };

/** Each filter that the domain has, once or not at all. */
export const filterSchema = (domain: Domain, id: z.ZodType = z.int().positive().exactOptional()) =>
  z.strictObject(Object.fromEntries([...filtersOf(domain).keys()].map((name) => [name, id])));

/** Which column has what a filter leads to, where webhooks are kept. */
export const filterColumnsOf = (domain: Domain): readonly (readonly [column: string, name: string])[] =>
  [...filtersOf(domain).keys()].map((name) => [`filter_${snake(name)}`, name]);

export const filterIn = (domain: Domain) => filterSchema(domain) as unknown as z.ZodType<WebhookFilter, WebhookFilter>;

export const payload = z.enum(['thin', 'full']);

export const limits = z.strictObject({
  ratePerSecond: z.int().min(1).max(RATE_PER_SECOND_MAX),
  concurrency: z.int().min(1).max(CONCURRENCY_MAX),
});

export const headerName = z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, { error: 'Must be 1 to 100 letters, digits and hyphens.' });
/** Visible ASCII, with spaces inside. */
export const headerValue = z
  .string()
  .max(HEADER_VALUE_CHARACTERS_MAX)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, { error: 'Must be visible ASCII, with spaces only inside.' });
/** Sent beside ours. */
export const headers = z
  .record(headerName, headerValue)
  .refine((values) => Object.keys(values).length <= HEADERS_MAX, { error: `Must be at most ${HEADERS_MAX} headers.` })
  .meta({ maxProperties: HEADERS_MAX });

/** 24 to 64 random bytes, as Standard Webhooks writes them. */
const secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/);

const SCOPES_MAX = 100;
/** Those of whoever decided what goes where, as far as it depends on them what the webhook is told. */
const scopes: z.ZodType<readonly string[], readonly string[]> = z
  .array(z.string().regex(/^[a-z0-9-]+:[a-z0-9-]+$/))
  .max(SCOPES_MAX)
  .meta({ uniqueItems: true });

/** Why it is disabled: its owner or an administrator wanted that, nothing but failures for days, or the receiver said that it is gone (410). */
export const DISABLED_REASONS = ['owner', 'failing', 'gone'] as const;
export const disabledReason = z.enum(DISABLED_REASONS);
export type DisabledReason = z.infer<typeof disabledReason>;

/** After which place, and since when, changes were not delivered that its owner did not forgo; null where there are none. */
const missed = z.strictObject({ since: beginning, at: timestamp }).nullable();

/** Version 1 held bare positions, which mean something else once the log was copied to another engine. */
const withPlaces = ({ missed, ...data }: JsonObject): JsonObject => {
  const places = Object.entries(data).map(([name, value]) => [name, name === 'from' || name === 'to' ? placedWithoutLog(value) : value]);
  const known = missed as JsonObject | null | undefined;
  const since = known?.since === undefined ? known : { ...known, since: placedWithoutLog(known.since) };
  return { ...Object.fromEntries(places), ...(since !== undefined && { missed: since }) } as JsonObject;
};

/** The id of the event itself, so that what came of a request is found by it. */
const requestId = z.uuid();
const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';

const EXAMPLE_LOG = '6f9619ff-8b86-4011-b42d-00c04fc964ff';
const placeOf = (position: number) => ({ log: EXAMPLE_LOG, position });

const told = { right: 'webhook.manage', owner: 'ownerId', isProjected: true } as const;
const common = { version: 1, visibility: 'public', stream, told, upcasters: {} } as const;

const LIFE = {
  'webhook.secret_rotated': defineEvent({
    ...common,
    type: 'webhook.secret_rotated',
    description: 'It got a new secret; the one before signs beside it until a time.',
    schema: z.strictObject({ ...mark.shape, secret, oldSecretsEndAt: timestamp }),
    personal: { subject: 'ownerId', fields: ['secret'], concealed: ['secret'] },
    example: { ...markExample, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', oldSecretsEndAt: '2026-01-03T03:04:05.678Z' },
  }),
  'webhook.enabled': defineEvent({
    ...common,
    type: 'webhook.enabled',
    description: 'Changes are delivered again, from here on, as far as whoever enabled it may read them.',
    schema: z.strictObject({ ...mark.shape, scopes }),
    personal: null,
    example: { ...markExample, scopes: ['read:articles', 'manage:webhooks'] },
  }),
  'webhook.disabled': defineEvent({
    ...common,
    version: 2,
    upcasters: { 1: withPlaces },
    type: 'webhook.disabled',
    description:
      'No more changes are delivered: its owner or an administrator wanted that, it kept failing for days, or it said that it is gone.',
    schema: z.strictObject({ ...mark.shape, reason: disabledReason, missed }),
    personal: null,
    example: { ...markExample, reason: 'failing', missed: { since: placeOf(1200), at: '2026-01-02T03:04:05.678Z' } },
  }),
  'webhook.deleted': defineEvent({
    ...common,
    type: 'webhook.deleted',
    description: 'It was deleted with its secrets, and nothing more is delivered.',
    schema: mark,
    personal: null,
    example: markExample,
  }),
};

/** What is delivered, where, and how. */
const contentOf = (filter: ReturnType<typeof filterIn>) => ({
  'webhook.registered': defineEvent({
    ...common,
    type: 'webhook.registered',
    description: 'An address was registered, to which changes are delivered.',
    schema: z.strictObject({
      ...mark.shape,
      url,
      description,
      eventTypes,
      filter,
      payload,
      enabled: z.boolean(),
      ordered: z.boolean(),
      limits,
      headers,
      secret,
      scopes,
    }),
    personal: { subject: 'ownerId', fields: ['url', 'description', 'headers', 'secret'], concealed: ['headers', 'secret'] },
    example: {
      ...markExample,
      url: 'https://example.com/hooks',
      description: 'The shop',
      eventTypes: ['article.*', 'comment.added'],
      filter: {},
      payload: 'thin',
      enabled: true,
      ordered: false,
      limits: { ratePerSecond: 50, concurrency: 10 },
      headers: { 'X-Team': 'blue' },
      secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      scopes: ['read:users', 'read:articles', 'read:comments', 'manage:webhooks'],
    },
  }),
  'webhook.changed': defineEvent({
    ...common,
    type: 'webhook.changed',
    description: 'What is delivered, where, or how, was changed; only the changed fields are there.',
    schema: z.strictObject({
      ...mark.shape,
      url: url.exactOptional(),
      description: description.exactOptional(),
      eventTypes: eventTypes.exactOptional(),
      filter: filter.exactOptional(),
      payload: payload.exactOptional(),
      ordered: z.boolean().exactOptional(),
      limits: limits.exactOptional(),
      headers: headers.exactOptional(),
      // Where what goes where was changed by a user: from then on it is told what they may read.
      scopes: scopes.exactOptional(),
    }),
    personal: { subject: 'ownerId', fields: ['url', 'description', 'headers'], concealed: ['headers'] },
    example: { ...markExample, url: 'https://example.com/hooks/2', payload: 'full', scopes: ['read:articles', 'manage:webhooks'] },
  }),
});

/** What its owner asks for; the dispatcher carries it out when it comes to it. */
const REQUESTS = {
  'webhook.test_requested': defineEvent({
    ...common,
    type: 'webhook.test_requested',
    description: 'A test was asked for: this very event is delivered to the address, whatever else it asks for.',
    schema: z.strictObject({ ...mark.shape, testId: requestId }),
    personal: null,
    example: { ...markExample, testId: REQUEST_ID },
  }),
  'webhook.replay_requested': defineEvent({
    ...common,
    version: 2,
    upcasters: { 1: withPlaces },
    type: 'webhook.replay_requested',
    description: 'What happened in a span of the log was asked for again: after `from`, at `time` or later, up to `to`.',
    // `from` is null where the span begins with a time; `missed` is what is missed after this replay.
    schema: z.strictObject({
      ...mark.shape,
      replayId: requestId,
      from: beginning.nullable(),
      to: end,
      time: timestamp.nullable(),
      missed,
    }),
    personal: null,
    example: { ...markExample, replayId: REQUEST_ID, from: placeOf(1200), to: placeOf(1500), time: null, missed: null },
  }),
  'webhook.redelivery_requested': defineEvent({
    ...common,
    type: 'webhook.redelivery_requested',
    description: 'One delivery was asked for again; its id is that of the event which is delivered.',
    schema: z.strictObject({ ...mark.shape, redeliveryId: requestId, deliveryId: z.uuid() }),
    personal: null,
    example: { ...markExample, redeliveryId: REQUEST_ID, deliveryId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c' },
  }),
  'webhook.redrive_requested': defineEvent({
    ...common,
    type: 'webhook.redrive_requested',
    description: 'Every delivery that was given up was asked for again.',
    schema: z.strictObject({ ...mark.shape, redriveId: requestId }),
    personal: null,
    example: { ...markExample, redriveId: REQUEST_ID },
  }),
};

export const webhookEventsOf = (domain: Domain) => ({ ...contentOf(filterIn(domain)), ...LIFE, ...REQUESTS });
export type WebhookEventType = keyof ReturnType<typeof webhookEventsOf>;
