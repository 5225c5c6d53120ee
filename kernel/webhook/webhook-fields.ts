import * as z from 'zod';
import { SCOPES_MAX } from '../base/events/fields.ts';
import { snake } from '../base/names.ts';
import { text } from '../base/values.ts';
import { filtersOf } from '../registry/event-references.ts';
import type { Domain } from '../registry/registry.ts';

/** The fields of a webhook, and their limits. */

const URL_CHARACTERS_MAX = 2_048;
export const DESCRIPTION_CHARACTERS_MAX = 500;
const EVENT_TYPES_MAX = 100;
const RATE_PER_SECOND_MAX = 1_000;
const CONCURRENCY_MAX = 50;
export const HEADERS_MAX = 10;
const HEADER_VALUE_CHARACTERS_MAX = 1_000;

/** The address of deliveries. */
export const url = text(URL_CHARACTERS_MAX).meta({
  maxLength: URL_CHARACTERS_MAX,
  format: 'uri',
  pattern: undefined,
});
export const description = text(DESCRIPTION_CHARACTERS_MAX).nullable();

/** A type, all of one family (`article.*`), or all (`*`); it is compared with an event’s type at delivery. */
const eventPattern = z.string().regex(/^(?:\*|[a-zA-Z0-9]{1,40}\.(?:\*|[a-zA-Z0-9_]{1,60}))$/, {
  error: 'Must be a type of event, all of a kind (`article.*`), or all (`*`).',
});
export const eventTypes: z.ZodType<readonly string[], readonly string[]> = z
  .array(eventPattern)
  .min(1)
  .max(EVENT_TYPES_MAX)
  .refine((values) => new Set(values).size === values.length, { error: 'Must not repeat a type.' })
  .meta({ uniqueItems: true });

/** Only events of the aggregates that these refer to, by the filters of the domain. */
export type WebhookFilter = { readonly [name: string]: number };

/** Each filter of the domain, at most once. */
export const filterSchema = (domain: Domain, id: z.ZodType = z.int().positive().exactOptional()) =>
  z.strictObject(Object.fromEntries([...filtersOf(domain).keys()].map((name) => [name, id])));

/** The column of each filter, in the table of webhooks. */
export const filterColumnsOf = (domain: Domain): readonly (readonly [column: string, name: string])[] =>
  [...filtersOf(domain).keys()].map((name) => [`filter_${snake(name)}`, name]);

export const filterIn = (domain: Domain) =>
  filterSchema(domain) as unknown as z.ZodType<WebhookFilter, WebhookFilter>;

export const payload = z.enum(['thin', 'full']);

/**
 * The form of requests: our own, or CloudEvents 1.0 with its attributes in the body (structured mode) or in
 * headers (binary mode).
 */
const FORMATS = ['annals', 'cloudevents', 'cloudevents_binary'] as const;
export const format = z.enum(FORMATS);
export type WebhookFormat = (typeof FORMATS)[number];
export const [FORMAT_DEFAULT] = FORMATS;

/** The content of `data`, and the form around it. */
export type Sent = { readonly payload: z.infer<typeof payload>; readonly format: WebhookFormat };

/**
 * Both in one word, as they are recorded. A column of its own for the format would make every installation
 * build its read model again, and a former release reads the events of webhooks with the default format.
 */
export const recordedPayload = z.enum([
  ...payload.options,
  'thin+cloudevents',
  'full+cloudevents',
  'thin+cloudevents_binary',
  'full+cloudevents_binary',
]);
export type RecordedPayload = z.infer<typeof recordedPayload>;

export const recordedAs = ({ payload, format }: Sent): RecordedPayload =>
  format === FORMAT_DEFAULT ? payload : `${payload}+${format}`;

export const sentBy = (recorded: RecordedPayload): Sent => {
  const [payload, format = FORMAT_DEFAULT] = recorded.split('+');
  // Of the words above.
  return { payload, format } as Sent;
};

export const limits = z.strictObject({
  ratePerSecond: z.int().min(1).max(RATE_PER_SECOND_MAX),
  concurrency: z.int().min(1).max(CONCURRENCY_MAX),
});

export type Limits = z.infer<typeof limits>;

export const headerName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,99}$/, { error: 'Must be 1 to 100 letters, digits and hyphens.' });
/** Visible ASCII, with spaces inside. */
export const headerValue = z
  .string()
  .max(HEADER_VALUE_CHARACTERS_MAX)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, {
    error: 'Must be visible ASCII, with spaces only inside.',
  });
/** Sent in addition to ours. */
export const headers = z
  .record(headerName, headerValue)
  .refine((values) => Object.keys(values).length <= HEADERS_MAX, {
    error: `Must be at most ${HEADERS_MAX} headers.`,
  })
  .meta({ maxProperties: HEADERS_MAX });

/** 24 to 64 random bytes, as Standard Webhooks writes them. */
export const secret = z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/);

/**
 * The scopes of the user who chose the address and the events; they limit the events the webhook receives.
 */
export const scopes: z.ZodType<readonly string[], readonly string[]> = z
  .array(z.string().regex(/^[a-z0-9-]+:[a-z0-9-]+$/))
  .max(SCOPES_MAX)
  .meta({ uniqueItems: true });

/**
 * The reason why it is disabled: by its owner or an administrator, after days of failures, or because the
 * receiver responded 410 (gone).
 */
export const DISABLED_REASONS = ['owner', 'failing', 'gone'] as const;
export const disabledReason = z.enum(DISABLED_REASONS);
export type DisabledReason = z.infer<typeof disabledReason>;
