// Over 200 lines, because it is one table: the fields and events of a webhook.

import * as z from 'zod';
import type { LogIdentity, Position, UserId, WebhookId } from '../base/brands.ts';
import { beginning, end } from '../base/events/fields.ts';
import { asLogPosition } from '../base/events/log-positions.ts';
import type { Json } from '../base/json.ts';
import { snake } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { timestamp } from '../base/values.ts';
import type { AggregateState } from '../decide/state.ts';
import type { EventsOf } from '../declare/aggregate.ts';
import { declareUntyped } from '../declare/declare.ts';
import { markdown, type Part, ref, type ValueOf, value } from '../declare/fields.ts';
import { filtersOf } from '../registry/event-references.ts';
import { kindOf } from '../registry/kind-of.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import * as forms from './webhook-fields.ts';

/**
 * The webhook, a destination of deliveries. Its commands have their own code, because they depend on who
 * sends them.
 */

/** The maximum number of old secrets that sign beside the present one; each makes the header longer. */
export const OLD_SECRETS_MAX = 4;

const same = (whole: unknown): unknown => whole;
const part = (column: string, type: string, shown?: string, of: (whole: never) => unknown = same): Part => ({
  column,
  type,
  ...(shown !== undefined && { shown }),
  of: of as Part['of'],
});
const optionalPart = (...given: Parameters<typeof part>): Part => ({ ...part(...given), isNullable: true });

/**
 * The position and time after which changes were not delivered although the owner did not renounce them. It
 * remains until they are replayed from there or earlier.
 */
export type Missed = z.infer<typeof missed> | null;
const missed = z.strictObject({ since: beginning, at: timestamp });
type Headers = Readonly<Record<string, string>> | null;

/** A request has the id of its event, by which its result is found. */
const request = () => value(z.uuid(), []);

/** Personal values are null after the owner’s key is destroyed. */
const fieldsOf = (filters: readonly string[], filter: z.ZodType<forms.WebhookFilter>) => ({
  owner: ref('user'),
  url: value<string | null>(forms.url, [part('url', 'text', 'url')]).personal(),
  description: markdown(forms.DESCRIPTION_CHARACTERS_MAX).optional().personal(),
  eventTypes: value(forms.eventTypes, [part('event_types', 'text[]', 'eventTypes')]),
  filter: value(
    filter,
    filters.map((name) =>
      optionalPart(
        `filter_${snake(name)}`,
        'bigint',
        `filter.${name}`,
        (given: forms.WebhookFilter | null) => given?.[name] ?? null,
      ),
    ),
  ),
  payload: value(forms.recordedPayload, [part('payload', 'text', 'payload')]),
  ordered: value(z.boolean(), [part('is_ordered', 'boolean', 'ordered')]),
  limits: value(forms.limits, [
    part(
      'rate_per_second',
      'integer',
      'limits.ratePerSecond',
      (given: forms.Limits | null) => given?.ratePerSecond,
    ),
    part('concurrency', 'integer', 'limits.concurrency', (given: forms.Limits | null) => given?.concurrency),
  ]),
  // Only the receiver sees the values of headers; everyone else sees their names.
  headers: value<Headers>(
    forms.headers,
    [
      {
        ...part('header_names', 'text[]', 'headers', (given: Headers) => Object.keys(given ?? {})),
        isNullable: false,
      },
    ],
    { concealed: (given) => given && Object.fromEntries(Object.keys(given).map((name) => [name, ''])) },
  ).personal(),
  secret: value<string | null>(forms.secret, [], {
    remembers: OLD_SECRETS_MAX + 1,
    concealed: () => [],
  }).personal(),
  scopes: value(forms.scopes, [part('scopes', 'text[]', 'scopes')]),
  enabled: value(z.boolean(), [part('is_enabled', 'boolean', 'enabled')]).filter(),
  reason: value<forms.DisabledReason | null>(forms.disabledReason, [
    optionalPart('disabled_reason', 'text', 'disabledReason'),
  ]),
  // The row names the log too, so that it is the same in every copy of the log.
  missed: value(missed, [
    part('missed_log', 'text', undefined, (given: Missed) => given?.since.log ?? null),
    part('missed_since', 'bigint', 'missedSince', (given: Missed) => given?.since.position ?? null),
  ]).optional(),
  oldSecretsEndAt: value(timestamp, [optionalPart('old_secrets_end_at', 'timestamptz', 'secretsEndAt')], {
    remembers: OLD_SECRETS_MAX,
  }),
  testId: request(),
  replayId: request(),
  from: value(beginning, []).optional(),
  to: value(end, []),
  time: value(timestamp, []).optional(),
  redeliveryId: request(),
  deliveryId: request(),
  redriveId: request(),
  since: value(timestamp, []).optional(),
  until: value(timestamp, []).optional(),
  retrying: value(z.boolean(), []),
});
type Fields = ReturnType<typeof fieldsOf>;

const CONTENT = [
  'url',
  'description',
  'eventTypes',
  'filter',
  'payload',
  'ordered',
  'limits',
  'headers',
  'scopes',
] as const;

/** Version 1 held bare positions, which have another meaning after the log is copied to another engine. */
const withLogPositions = ({ missed: known, ...data }: Row): Row => {
  const changed = Object.entries(data).map(([name, given]) => [
    name,
    name === 'from' || name === 'to' ? asLogPosition(given as Json) : given,
  ]);
  const since = (known as Row | null | undefined)?.since;
  const missed = since === undefined ? known : { ...(known as Row), since: asLogPosition(since as Json) };
  return { ...Object.fromEntries(changed), ...(missed !== undefined && { missed }) };
};

const REQUEST_ID = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
const exampleAt = (position: number) => ({
  log: '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity,
  position: position as Position,
});
const later = { upcasts: [withLogPositions] } as const;
/** Requests by the owner that the dispatcher executes later; they change nothing visible. */
const quiet = { quiet: true } as const;

/** From the data of the event; only the kernel sets fields by code. */
const SET_BY_CODE: object = { reason: ({ enabled }: Row) => (enabled ? null : 'owner') };

const EVENTS = {
  registered: {
    says: 'A webhook was registered: an address to which changes are delivered.',
    creates: [
      'url',
      'description',
      'eventTypes',
      'filter',
      'payload',
      'enabled',
      'ordered',
      'limits',
      'headers',
      'secret',
      'scopes',
    ],
    sets: SET_BY_CODE,
    example: {
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
  },
  // Contains the scopes if a user changed the destination or selection: deliveries are limited to what these
  // may read.
  changed: {
    says: 'Settings of the webhook were changed; only the changed fields are present.',
    changes: CONTENT,
    example: {
      url: 'https://example.com/hooks/2',
      payload: 'full',
      scopes: ['read:articles', 'manage:webhooks'],
    },
  },
  secret_rotated: {
    says: 'The webhook got a new secret. For some time, requests are also signed with the former secret.',
    computes: ['secret', 'oldSecretsEndAt'],
    example: {
      secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
      oldSecretsEndAt: '2026-01-03T03:04:05.678Z',
    },
  },
  enabled: {
    says: 'The webhook was enabled: from now on, it receives the changes that the user who enabled it may read.',
    sets: { enabled: true, reason: null },
    computes: ['scopes'],
    example: { scopes: ['read:articles', 'manage:webhooks'] },
  },
  disabled: {
    ...later,
    says: 'The webhook was disabled: by its owner or an administrator, after days of failures, or because of a 410 response.',
    sets: { enabled: false },
    computes: ['reason', 'missed'],
    example: { reason: 'failing', missed: { since: exampleAt(1200), at: '2026-01-02T03:04:05.678Z' } },
  },
  deleted: { says: 'The webhook was deleted with its secrets. Nothing more is delivered.', ends: true },
  test_requested: {
    ...quiet,
    says: 'A test was requested: this event is delivered to the webhook, whatever its event types are.',
    computes: ['testId'],
    example: { testId: REQUEST_ID },
  },
  // `from` is null if the span starts at a time; `missed` is what is still missed after this replay.
  replay_requested: {
    ...quiet,
    ...later,
    says: 'A replay was requested: events after `from`, at `time` or later, up to `to`, are delivered again.',
    computes: ['replayId', 'from', 'to', 'time', 'missed'],
    example: { replayId: REQUEST_ID, from: exampleAt(1200), to: exampleAt(1500) },
  },
  redelivery_requested: {
    ...quiet,
    says: 'The redelivery of an event was requested. The id of the delivery is the id of the event.',
    computes: ['redeliveryId', 'deliveryId'],
    example: { redeliveryId: REQUEST_ID, deliveryId: '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c' },
  },
  redrive_requested: {
    ...quiet,
    says: 'The redelivery of dead letters was requested: of all, or of those planned in a time range. With `retrying`, also of deliveries that wait for a retry.',
    upcasts: [(all: Row): Row => ({ ...all, since: null, until: null, retrying: false })],
    computes: ['redriveId', 'since', 'until', 'retrying'],
    example: {
      redriveId: REQUEST_ID,
      since: '2026-01-02T00:00:00.000Z',
      until: '2026-01-03T00:00:00.000Z',
      retrying: true,
    },
  },
} as const satisfies EventsOf<Fields, unknown>;

/** The data of its events by type. */
export type WebhookEvents = {
  readonly [Name in keyof typeof EVENTS as `webhook.${Name}`]: {
    readonly webhookId: WebhookId;
    readonly ownerId: UserId;
  } & Held<(typeof EVENTS)[Name]>;
};
export type WebhookEvent = {
  readonly [Type in keyof WebhookEvents]: { readonly type: Type; readonly data: WebhookEvents[Type] };
}[keyof WebhookEvents];
type Held<Event> = { readonly [Name in Named<Event, 'creates' | 'computes'>]: ValueOf<Fields[Name]> } & {
  readonly [Name in Named<Event, 'changes'>]?: ValueOf<Fields[Name]>;
};
type Named<Event, How extends string> = {
  [Each in How]: Event extends Readonly<Record<Each, readonly (infer Name extends keyof Fields)[]>>
    ? Name
    : never;
}[How];

/** The state of a webhook that exists. */
export type Webhook = Omit<
  { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> },
  'owner' | 'secret' | 'oldSecretsEndAt'
> & {
  readonly id: WebhookId;
  readonly owner: UserId;
  /** The last secret signs, and the earlier ones until they expire. */
  readonly secret: readonly (string | null)[];
  readonly oldSecretsEndAt: readonly string[];
};

export const presentIn = (state: AggregateState): Webhook | undefined =>
  // The fold of its events, which the codec has validated.
  state.status === 'present' ? (state.fields as unknown as Webhook) : undefined;

/** The webhook with the filters of a domain. */
export const webhookOf = oncePer(
  (domain: Domain): Kind => makeKind([...filtersOf(domain).keys()], forms.filterIn(domain)),
);

const makeKind = (filters: readonly string[], filter: z.ZodType<forms.WebhookFilter>): Kind => {
  const webhook = declareUntyped('webhook', {
    owner: 'owner',
    fields: fieldsOf(filters, filter),
    events: EVENTS,
    commands: { delete: { emits: 'deleted' } },
    rights: { manage: { scope: 'manage', signedIn: 'own' } },
    reactions: { owner: { deleted: { run: 'delete' } } },
  });
  return { ...kindOf(webhook), isManaged: true };
};

/** Identical for all filters. */
export const anyWebhook = makeKind([], z.record(z.string(), z.number()));

const types: ReadonlySet<string> = new Set(Object.values(anyWebhook.events).map(({ type }) => type));

/** A later release may have event types that this one does not know. */
export const isOfWebhook = (type: string): boolean => types.has(type);
