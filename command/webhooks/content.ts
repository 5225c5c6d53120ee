import type { Json } from '#kernel/base/json.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Webhook } from '#kernel/webhook/webhook.ts';
import {
  HEADERS_MAX,
  type RecordedPayload,
  recordedAs,
  type Sent,
  sentBy,
} from '#kernel/webhook/webhook-fields.ts';
import { type EditWebhook, HIDDEN_VALUE, type WebhookContent } from '#shared/commands/webhook.ts';
import { pointerTo } from '#shared/json-pointers.ts';
import { areEqual } from '../handling/json-patch.ts';

/** The content that the owner can change. Without the owner’s key, nothing can be sealed. */
export const contentOf = (state: Webhook): WebhookContent => {
  const { url, description, eventTypes, filter, payload, ordered, limits, headers } = state;
  if (url === null || headers === null) throw new Rejection('user_deleted');
  return { url, description, eventTypes, filter, ...sentBy(payload), ordered, limits, headers };
};

/** Changes of the content as the event has them. */
export const recordedChanges = (
  { payload, format, ...changes }: Partial<WebhookContent>,
  after: Sent,
): Omit<Partial<WebhookContent>, keyof Sent> & { readonly payload?: RecordedPayload } => ({
  ...changes,
  ...((payload !== undefined || format !== undefined) && { payload: recordedAs(after) }),
});

/**
 * The fields of the content that change. Hidden header values are sent only to the origin for which they were
 * given.
 */
export const changesTo = (before: WebhookContent, after: WebhookContent): Partial<WebhookContent> => {
  if (!isSameOrigin(before.url, after.url)) refuseHidden(after.headers);
  const wanted = { ...after, headers: withValues(before.headers, after.headers) };
  const names = (Object.keys(before) as (keyof WebhookContent)[]).filter(
    (name) => !areEqual(before[name] as Json, wanted[name] as Json),
  );
  return Object.fromEntries(names.map((name) => [name, wanted[name]]));
};

const WHAT_GOES_WHERE = [
  'url',
  'eventTypes',
  'filter',
  'payload',
] as const satisfies readonly (keyof WebhookContent)[];

/**
 * The caller who decides the destination or selection is responsible for it, so deliveries are limited to
 * what that caller may read.
 */
export const decidesWhatGoesWhere = (changes: Partial<WebhookContent>): boolean =>
  WHAT_GOES_WHERE.some((name) => Object.hasOwn(changes, name));

/** Applies a merge patch (RFC 7396); headers that it does not contain get the hidden value. */
export const merged = (
  before: WebhookContent,
  { type: _, webhookId: __, filter, limits, headers, ...changes }: EditWebhook,
): WebhookContent => ({
  ...before,
  ...named(changes),
  filter: without(null, { ...before.filter, ...named({ ...filter }) }),
  limits: { ...before.limits, ...named({ ...limits }) },
  headers: mergedHeaders(before.headers, headers ?? {}),
});

type Headers = WebhookContent['headers'];

const isSameOrigin = (one: string, other: string): boolean =>
  URL.parse(one)?.origin === URL.parse(other)?.origin;

/** Otherwise a stolen token could send the owner’s secrets to the thief. */
const refuseHidden = (headers: Headers): void => {
  const hidden = Object.keys(headers).filter((name) => headers[name] === HIDDEN_VALUE);
  const detail = 'Hidden values are not sent to another origin: enter the value again, or remove the header.';
  const errors = hidden.map((name) => ({ pointer: pointerTo(['headers', name]), detail }));
  if (errors.length > 0) throw new Rejection('invalid_command', { errors });
};

/** Replaces hidden values with the present ones. Header names are compared ignoring case. */
export const withValues = (before: Headers, after: Headers): Headers => {
  const values = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const known = value === HIDDEN_VALUE ? values.get(name.toLowerCase()) : value;
      if (known === undefined)
        throw refusalOf(['headers', name], 'There is no header with this name whose value could be kept.');
      return [name, known];
    }),
  );
};

const mergedHeaders = (before: Headers, changes: Readonly<Record<string, string | null>>): Headers => {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()));
  const kept = Object.keys(before)
    .filter((name) => !changed.has(name.toLowerCase()))
    .map((name) => [name, HIDDEN_VALUE] as const);
  const set = Object.entries(changes).filter((change): change is [string, string] => change[1] !== null);
  const { length } = [...kept, ...set];
  if (length > HEADERS_MAX) throw refusalOf(['headers'], `Must be at most ${HEADERS_MAX} headers.`);
  return Object.fromEntries([...kept, ...set]);
};

const refusalOf = (path: readonly string[], detail: string): Rejection =>
  new Rejection('invalid_command', { errors: [{ pointer: pointerTo(path), detail }] });

type Without<Nothing, Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], Nothing> };

const without = <Nothing, Fields extends object>(
  nothing: Nothing,
  fields: Fields,
): Without<Nothing, Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== nothing)) as Without<
    Nothing,
    Fields
  >;

/** Undefined fields are missing from the command. */
const named = <Fields extends object>(fields: Fields): Without<undefined, Fields> =>
  without(undefined, fields);
