import { parseInput } from '#edge/http/parse-input.ts';
import type { EventId, WebhookId } from '#kernel/base/brands.ts';
import type { Cursor } from '#kernel/base/cursor.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { pathEventId } from '#kernel/base/rest/path-id.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { NewRedrive, NewReplay } from '#shared/rest/deliveries.ts';
import { webhookBodies } from '#shared/rest/webhooks.ts';
import { demandFewReplays, findDelivery } from '#shared/webhooks/deliveries.ts';
import type { Resolver } from './context.ts';
import { orUnavailable } from './keyed-connection.ts';
import {
  changing,
  deleting,
  idOf,
  readChanged,
  type Sent,
  sendMutation,
  type ToCommand,
} from './mutations.ts';
import type { Row } from './rows.ts';

type Arguments = Readonly<Record<string, unknown>>;

const webhookId = (given: unknown): WebhookId => idOf('webhook', given) as WebhookId;

type Secret = { readonly webhook: Row; readonly secret: string };

/** Returns the secret of the command; a repetition with the same key returns it again. */
const revealing =
  (toCommand: ToCommand): Resolver =>
  async (_mutation, args, context, key): Promise<Secret> => {
    const { id, secret } = await sendMutation(toCommand, { args, context, key });
    if (secret === undefined) throw new Error(`the command of ${key} returned no secret`);
    return { webhook: await readChanged(context, 'Webhook', id), secret };
  };

type Request = { readonly id: EventId; readonly webhook: Row; readonly cursor: Cursor };

/** Returns as soon as the request is recorded; the dispatcher executes it. */
const requesting =
  (toCommand: ToCommand): Resolver =>
  (_mutation, args, context, key): Promise<Request> =>
    request(toCommand, { args, context, key });

const request = async (toCommand: ToCommand, sent: Sent): Promise<Request> => {
  const { id, eventId, cursor } = await sendMutation(toCommand, sent);
  if (eventId === undefined) throw new Error(`the command of ${sent.key} returned no event`);
  return { id: eventId, webhook: await readChanged(sent.context, 'Webhook', id), cursor };
};

export const webhookMutations = (domain: Domain): Readonly<Record<string, Resolver>> => {
  const { NewWebhook, WebhookPatch } = webhookBodies(domain);
  const content = contentReader(domain);
  return {
    ...REQUESTS,
    registerWebhook: revealing(({ input }) => {
      const { owner, enabled, ...given } = withoutNulls(input as Arguments);
      const whose = owner !== undefined && { ownerId: idOf('user', owner) };
      return { type: 'RegisterWebhook', ...parseInput(NewWebhook, { ...content(given), ...whose, enabled }) };
    }),
    editWebhook: changing('Webhook', ({ id, changes }) => ({
      type: 'EditWebhook',
      webhookId: webhookId(id),
      ...parseInput(WebhookPatch, content(changes as Arguments)),
    })),
  };
};

const REQUESTS: Readonly<Record<string, Resolver>> = {
  deleteWebhook: deleting(({ id }) => ({ type: 'DeleteWebhook', webhookId: webhookId(id) })),
  rotateWebhookSecret: revealing(({ id }) => ({ type: 'RotateWebhookSecret', webhookId: webhookId(id) })),
  enableWebhook: changing('Webhook', ({ id }) => ({ type: 'EnableWebhook', webhookId: webhookId(id) })),
  disableWebhook: changing('Webhook', ({ id }) => ({
    type: 'DisableWebhook',
    webhookId: webhookId(id),
    reason: 'owner',
  })),
  testWebhook: requesting(({ id }) => ({ type: 'TestWebhook', webhookId: webhookId(id) })),
  async replayWebhook(_mutation, args, context, key): Promise<Request> {
    const id = webhookId(args.id);
    await orUnavailable(demandFewReplays(context.pool, id, () => readChanged(context, 'Webhook', id)));
    return request(replayOf, { args, context, key });
  },
  async redeliver(_mutation, args, context, key): Promise<Request> {
    const id = webhookId(args.webhookId);
    // The webhook must be the caller’s. And the delivery must exist, because the log does not contain planned
    // ones.
    await readChanged(context, 'Webhook', id);
    const deliveryId = pathEventId(String(args.deliveryId));
    if (!deliveryId || !(await orUnavailable(findDelivery(context.pool, id, deliveryId))))
      throw new Rejection('delivery_not_found');
    return request(() => ({ type: 'RedeliverDelivery', webhookId: id, deliveryId }), { args, context, key });
  },
  redriveWebhook: requesting(({ id, since, until, retrying }) => ({
    type: 'RedriveWebhook',
    webhookId: webhookId(id),
    ...parseInput(NewRedrive, withoutNulls({ since, until, retrying })),
  })),
};

const replayOf: ToCommand = ({ id, from, since, to }) => {
  if (isGiven(from) && isGiven(since))
    throw new HttpProblem('invalid_parameter', { detail: 'A replay takes from or since, not both.' });
  const span = withoutNulls({ from: isGiven(from) ? from : since, to });
  return { type: 'ReplayWebhook', webhookId: webhookId(id), ...parseInput(NewReplay, span) };
};

const isGiven = (value: unknown): boolean => (value ?? null) !== null;

const withoutNulls = (input: Arguments): Arguments =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => isGiven(value)));

/** Nests the arguments as REST does; absent ones stay absent. */
const contentReader = (domain: Domain) => {
  const filters = [...filtersOf(domain)].map(([name, { kind = 'user' }]) => ({ name, kind }));
  return ({ ratePerSecond, concurrency, headers, ...others }: Arguments): Arguments => {
    const given = filters.filter(({ name }) => others[name] !== undefined);
    const filter = Object.fromEntries(
      given.map(({ name, kind }) => [name, others[name] === null ? null : idOf(kind, others[name])]),
    );
    const limits = {
      ...(ratePerSecond !== undefined && { ratePerSecond }),
      ...(concurrency !== undefined && { concurrency }),
    };
    return {
      ...Object.fromEntries(Object.entries(others).filter(([name]) => !(name in filter))),
      ...(given.length > 0 && { filter }),
      ...(Object.keys(limits).length > 0 && { limits }),
      ...(isGiven(headers) && { headers: headersOf(headers as readonly Header[]) }),
    };
  };
};

type Header = { readonly name: string; readonly value?: string | null };

/** An object would keep only the last of two equal names, and treat `__proto__` specially. */
const headersOf = (list: readonly Header[]): Arguments => {
  const headers = Object.fromEntries(list.map(({ name, value }) => [name, value ?? null]));
  if (Object.keys(headers).length === list.length && !Object.hasOwn(headers, '__proto__')) return headers;
  const detail = 'Must name each header once, with letters, digits and hyphens only.';
  throw new HttpProblem('invalid_request', { extensions: { errors: [{ pointer: '/headers', detail }] } });
};
