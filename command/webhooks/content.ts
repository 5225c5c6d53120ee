import type { Webhook } from '#kernel/declare/webhook.ts';
import { type EditWebhook, HIDDEN_VALUE, type WebhookContent } from '#shared/commands/webhook.ts';
import { HEADERS_MAX } from '#shared/events/webhook.ts';
import type { Json } from '#shared/json.ts';
import { pointerTo } from '#shared/json-pointers.ts';
import { Rejection } from '#shared/rejection.ts';
import { areEqual } from '../json-patch.ts';

/** What its owner can change. Without the owner's key nothing more can be sealed for them. */
export const contentOf = (state: Webhook): WebhookContent => {
  const { url, description, eventTypes, filter, payload, ordered, limits, headers } = state;
  if (url === null || headers === null) throw new Rejection('user_deleted');
  return { url, description, eventTypes, filter, payload, ordered, limits, headers };
};

/**
 * What of its content a webhook is to have otherwise. What is hidden goes nowhere but where whoever knew it
 * has it sent.
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

/** Whoever does so is answerable for what is told, and has it told no more than they may read themself. */
export const decidesWhatGoesWhere = (changes: Partial<WebhookContent>): boolean =>
  WHAT_GOES_WHERE.some((name) => Object.hasOwn(changes, name));

/** As a merge patch (RFC 7396) has it; of headers that it does not name, the values are hidden. */
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

/** A stolen token could have the owner's secrets sent to its thief otherwise. */
const refuseHidden = (headers: Headers): void => {
  const hidden = Object.keys(headers).filter((name) => headers[name] === HIDDEN_VALUE);
  const detail =
    'Must be given anew, or be taken away: its value is hidden, and is not sent to another origin.';
  const errors = hidden.map((name) => ({ pointer: pointerTo(['headers', name]), detail }));
  if (errors.length > 0) throw new Rejection('invalid_command', { errors });
};

/** With the values that are there already in place of hidden ones. Names are compared as HTTP does. */
export const withValues = (before: Headers, after: Headers): Headers => {
  const values = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const known = value === HIDDEN_VALUE ? values.get(name.toLowerCase()) : value;
      if (known === undefined)
        throw refusalOf(['headers', name], 'There is no such header that could keep its value.');
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

/** A field that is undefined is not named. */
const named = <Fields extends object>(fields: Fields): Without<undefined, Fields> =>
  without(undefined, fields);
