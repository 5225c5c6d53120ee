// Over 200 lines, because it is one list: the forms of the commands of webhooks.
import * as z from 'zod';
import { CURSOR_PATTERN } from '#kernel/base/cursor.ts';
import { userId, webhookId } from '#kernel/base/events/fields.ts';
import { instant } from '#kernel/base/instant.ts';
import { JsonPatch } from '#kernel/base/json-patch.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import * as events from '#kernel/webhook/webhook-fields.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';

/** Replaces the value of a header, which is never shown; sending it back keeps the value. */
export const HIDDEN_VALUE = '********';

/**
 * RFC 3986, without user and password, which a header can carry; the guard checks whether it leads inside.
 */
const URL_CHARACTERS = /^https?:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

const isAddress = (value: string): boolean => {
  const url = URL_CHARACTERS.test(value) ? URL.parse(value) : null;
  return url !== null && url.username === '' && url.password === '';
};

const url = events.url
  .refine(isAddress, { error: 'Must be an http(s) URL in ASCII, without a user name or password.' })
  .refine((value) => !value.includes('#'), { error: 'Must not have a fragment (#…): it is never sent.' })
  .refine((value) => URL.parse(value)?.port !== '0', {
    error: 'Must not have port 0, on which nothing can listen.',
  });

/** Headers that control the request, its encoding, or our identity are ours. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'date',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
]);
const RESERVED_FAMILY = /^(?:proxy|sec|webhook|x-forwarded)-/;

const isOurs = (name: string): boolean => RESERVED.has(name) || RESERVED_FAMILY.test(name);

const areAllowed = (names: readonly string[]): boolean => {
  const lower = names.map((name) => name.toLowerCase());
  return new Set(lower).size === names.length && !lower.some(isOurs);
};

const ALLOWED = {
  error:
    'Must not name a header twice, or a header that Annals sets, such as Host, Content-Type and Webhook-….',
};

const headers = events.headers.refine((values) => areAllowed(Object.keys(values)), ALLOWED);

const RATE_PER_SECOND = 50;
const CONCURRENCY = 10;
const { ratePerSecond, concurrency } = events.limits.shape;
const limits = z.strictObject({
  ratePerSecond: ratePerSecond.default(RATE_PER_SECOND),
  concurrency: concurrency.default(CONCURRENCY),
});

const headerChanges = z
  .record(events.headerName, events.headerValue.nullable())
  .refine(
    (values) => Object.keys(values).length <= 2 * events.HEADERS_MAX && areAllowed(Object.keys(values)),
    ALLOWED,
  );

/** The forms of webhooks, by the event types and filters of the domain. */
export const webhookFormsOf = (domain: Domain) => {
  const eventTypes = eventTypesOf(domain);
  const filter = events.filterIn(domain);

  const content = {
    url,
    description: events.description,
    eventTypes,
    filter,
    payload: events.payload,
    format: events.format,
    ordered: z.boolean(),
    limits: events.limits,
    headers,
  };

  /** The document that a JSON patch of a webhook changes, and the form of its result. */
  const WebhookContent = z.strictObject({
    ...content,
    description: content.description.default(null),
    filter: filter.prefault({}),
    payload: content.payload.default('thin'),
    format: content.format.default(events.FORMAT_DEFAULT),
    ordered: content.ordered.default(false),
    limits: limits.prefault({}),
    headers: headers.prefault({}),
  });

  /**
   * Replaces all of its content; a header with the hidden value keeps its own. Clients from before there were
   * formats keep the format.
   */
  const ReplaceWebhook = z.strictObject({
    type: z.literal('ReplaceWebhook'),
    webhookId,
    ...content,
    format: content.format.optional().meta({ description: 'Without it, the format stays as it is.' }),
  });

  /** The owner defaults to the caller. The default format is not sent, which former processes do not know. */
  const RegisterWebhook = WebhookContent.extend({
    type: z.literal('RegisterWebhook'),
    ownerId: userId.optional(),
    enabled: z.boolean().default(true),
    format: content.format.optional().meta({ description: `By default \`"${events.FORMAT_DEFAULT}"\`.` }),
  });

  /**
   * Changes the named fields, as a merge patch (RFC 7396): also within `filter`, `limits` and `headers`,
   * where `null` removes.
   */
  const EditWebhook = z.strictObject({
    type: z.literal('EditWebhook'),
    webhookId,
    ...z.object(content).partial().shape,
    filter: (
      events.filterSchema(domain, z.int().positive().nullable().optional()) as unknown as FilterChanges
    ).optional(),
    limits: z
      .strictObject({ ratePerSecond: ratePerSecond.optional(), concurrency: concurrency.optional() })
      .optional(),
    headers: headerChanges.optional(),
  });
  return { WebhookContent, RegisterWebhook, ReplaceWebhook, EditWebhook };
};

type FilterChanges = z.ZodType<{ readonly [name: string]: number | null }>;

const eventTypesOf = (domain: Domain) => {
  const isThere = (patterns: readonly string[]) =>
    patterns.every((each) => typesOf(catalogueOf(domain), each).length > 0);
  const error = 'Must be types of `/event-types`, or all of a kind (`user.*`), or all (`*`).';
  return events.eventTypes.refine(isThere, { error });
};

type Forms = ReturnType<typeof webhookFormsOf>;
type Of<Form extends keyof Forms> = Readonly<z.infer<Forms[Form]>>;
export type WebhookContent = Of<'WebhookContent'>;
export type RegisterWebhook = Of<'RegisterWebhook'>;
export type ReplaceWebhook = Of<'ReplaceWebhook'>;
export type EditWebhook = Of<'EditWebhook'>;

/** Changes the same fields as a replacement, by a JSON patch. */
export const PatchWebhook = z.strictObject({ type: z.literal('PatchWebhook'), webhookId, patch: JsonPatch });
export type PatchWebhook = Readonly<z.infer<typeof PatchWebhook>>;

export const RotateWebhookSecret = z.strictObject({ type: z.literal('RotateWebhookSecret'), webhookId });
export type RotateWebhookSecret = Readonly<z.infer<typeof RotateWebhookSecret>>;

export const EnableWebhook = z.strictObject({ type: z.literal('EnableWebhook'), webhookId });
export type EnableWebhook = Readonly<z.infer<typeof EnableWebhook>>;

/** Only the system itself gives another reason than the wish of its owner or an administrator. */
export const DisableWebhook = z.strictObject({
  type: z.literal('DisableWebhook'),
  webhookId,
  reason: events.disabledReason.default('owner'),
});
export type DisableWebhook = Readonly<z.infer<typeof DisableWebhook>>;

export const DeleteWebhook = z.strictObject({ type: z.literal('DeleteWebhook'), webhookId });
export type DeleteWebhook = Readonly<z.infer<typeof DeleteWebhook>>;

export const TestWebhook = z.strictObject({ type: z.literal('TestWebhook'), webhookId });
export type TestWebhook = Readonly<z.infer<typeof TestWebhook>>;

const cursor = z.string().regex(new RegExp(CURSOR_PATTERN), { error: 'Must be a cursor.' });

/** Begins with the missed events by default, and ends now by default. */
export const ReplayWebhook = z.strictObject({
  type: z.literal('ReplayWebhook'),
  webhookId,
  from: z
    .union([cursor, instant], { error: 'Must be a cursor, or a time in the RFC 3339 format.' })
    .optional()
    .meta({
      description:
        'A cursor: events after it. Or a time: events at that time or later. Without it, events after `missedSince`.',
    }),
  to: cursor.optional().meta({ description: 'A cursor: events up to it. Without it, up to now.' }),
});
export type ReplayWebhook = Readonly<z.infer<typeof ReplayWebhook>>;

/** `deliveryId` is the id of the delivered event. */
export const RedeliverDelivery = z.strictObject({
  type: z.literal('RedeliverDelivery'),
  webhookId,
  deliveryId: z.uuid(),
});
export type RedeliverDelivery = Readonly<z.infer<typeof RedeliverDelivery>>;

/** Delivers all dead letters again. */
export const RedriveWebhook = z.strictObject({
  type: z.literal('RedriveWebhook'),
  webhookId,
  since: instant.optional().meta({ description: 'Only deliveries that were planned at this time or later.' }),
  until: instant.optional().meta({ description: 'Only deliveries that were planned before this time.' }),
  retrying: z
    .boolean()
    .optional()
    .meta({ description: 'Includes deliveries that failed and wait for their next attempt.' }),
});
export type RedriveWebhook = Readonly<z.infer<typeof RedriveWebhook>>;
