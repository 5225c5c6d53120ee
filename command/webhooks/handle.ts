// Over 200 lines, because it is one table: a handler for each command of webhooks.
import { isDeepStrictEqual } from 'node:util';
import type { WebhookId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { presentIn, type WebhookEvent } from '#kernel/webhook/webhook.ts';
import type { KernelCommand } from '#shared/commands/command.ts';
import type {
  DeleteWebhook,
  EditWebhook,
  EnableWebhook,
  RedeliverDelivery,
  RedriveWebhook,
  RegisterWebhook,
  ReplaceWebhook,
  TestWebhook,
} from '#shared/commands/webhook.ts';
import { type Caller, policyOf, scopesOfEvents } from '#shared/policy.ts';
import { checkUrl, type GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { scopesLackedByAll } from '#shared/webhooks/withheld.ts';
import type { Target } from '../execute.ts';
import type { Sent } from '../handling/execution-context.ts';
import {
  demand,
  type HandlerDependencies,
  type HandlersOf,
  type Outcome,
  ownerOf,
} from '../handling/handler.ts';
import { demandOwner } from '../users/demand-owner.ts';
import { replacementByPatch } from './patch.ts';
import { createQuota, type Quota } from './quota.ts';
import { registrationReader, requestReader, secretReader } from './reveal.ts';
import { newSecret } from './secrets.ts';
import { spanOf } from './span.ts';
import { type WebhookCommand, webhook, webhookStream } from './webhook.ts';

type WebhookTarget = Target<AggregateState, WebhookEvent>;
type WebhookChange = Extract<KernelCommand, { webhookId: WebhookId }>;
/** Adds the context that the decider needs to a command. */
type CommandOn<Change> = (
  command: Change,
  sent: Sent,
  state: AggregateState,
) => WebhookCommand | Promise<WebhookCommand>;

const OPERATION = 'webhook.manage';
const POINTER = '/ownerId';

export const webhookHandlers = (
  dependencies: HandlerDependencies,
): HandlersOf<'RegisterWebhook' | WebhookChange['type']> => {
  const { log, pool, webhooks } = dependencies;
  const quota = createQuota({ pool, perOwnerMax: webhooks.perOwnerMax });

  const decide = decidingOutside(webhooks.guard, dependencies.domain);
  const handling = handlingWith(dependencies, decide);
  const deciding = handling((command: ReplaceWebhook | EditWebhook | EnableWebhook, { caller }) => ({
    ...command,
    scopes: scopesOf(caller),
  }));
  const deleting = handling((command: DeleteWebhook) => command);
  const requested = { reveal: requestReader(dependencies) };
  const requesting = {
    ...handling((command: TestWebhook | RedeliverDelivery | RedriveWebhook, sent) => ({
      ...command,
      requestId: requestIdOf(sent),
    })),
    ...requested,
  };

  return {
    RegisterWebhook: {
      operation: OPERATION,
      reveal: registrationReader(dependencies),
      handle: registering(dependencies, { decide, quota }),
    },
    ReplaceWebhook: deciding,
    EditWebhook: deciding,
    PatchWebhook: handling((command, { caller }, state) => ({
      ...replacementByPatch(dependencies.domain, command, state),
      scopes: scopesOf(caller),
    })),
    RotateWebhookSecret: {
      ...handling((command, { execution }) => ({
        ...command,
        secret: newSecret(),
        at: execution.metadata.at,
      })),
      reveal: secretReader(dependencies),
    },
    EnableWebhook: deciding,
    DisableWebhook: handling(async (command, { caller, execution }, state) => {
      if (command.reason !== 'owner' && caller.kind !== 'system') throw new Rejection('forbidden');
      const isByOwner =
        caller.kind === 'user' && state.status !== 'absent' && caller.userId === state.fields.owner;
      return {
        ...command,
        isByOwner,
        log: log.identity,
        head: await log.head(),
        at: execution.metadata.at,
      };
    }),
    DeleteWebhook: {
      operation: OPERATION,
      async handle(command, sent) {
        const outcome = await deleting.handle(command, sent);
        quota.forget(webhookStream(command.webhookId));
        return outcome;
      },
    },
    TestWebhook: requesting,
    ReplayWebhook: {
      ...handling(async ({ from, to, ...command }, sent) => ({
        ...command,
        ...(await spanOf(log, { from, to })),
        log: log.identity,
        head: await log.head(),
        requestId: requestIdOf(sent),
      })),
      ...requested,
    },
    RedeliverDelivery: requesting,
    RedriveWebhook: requesting,
  };
};

type Decide = (command: WebhookCommand, state: AggregateState) => readonly WebhookEvent[];

/** Makes the handlers of commands to an existing webhook. */
const handlingWith =
  ({ executor }: HandlerDependencies, decide: Decide) =>
  <Change extends WebhookChange>(commandOn: CommandOn<Change>) =>
    ({
      operation: OPERATION,
      async handle(command: Change, sent: Sent): Promise<Outcome> {
        const { webhookId } = command;
        const target: WebhookTarget = {
          decider: webhook,
          stream: webhookStream(webhookId),
          async decide(state) {
            demandOn(sent.caller, state);
            return { events: decide(await commandOn(command, sent, state), state) };
          },
        };
        return { id: webhookId, ...(await executor.change(target, sent.execution)) };
      },
    }) as const;

/** Refuses an address that the operator does not allow, and decides. */
const decidingOutside =
  (guard: GuardRules, domain: Domain): Decide =>
  (command, state) => {
    const address = addressIn(command, state);
    const detail = address === undefined ? undefined : checkUrl(address, guard);
    if (detail !== undefined)
      throw new Rejection('invalid_command', { errors: [{ pointer: '/url', detail }] });
    demandSomeDelivered(domain, command, state);
    return webhook.decide(command, state);
  };

/** Refuses new types if nothing could ever be delivered, whoever the owner is. */
const demandSomeDelivered = (domain: Domain, command: WebhookCommand, state: AggregateState): void => {
  if (!('eventTypes' in command) || command.eventTypes === undefined) return;
  const { eventTypes, scopes } = command;
  if (isDeepStrictEqual(eventTypes, presentIn(state)?.eventTypes)) return;
  const lacking = scopes === undefined ? [] : scopesLackedByAll(domain, { eventTypes, scopes });
  if (lacking.length === 0) return;
  const detail = `None of these events could be delivered: the token lacks ${lacking.length > 1 ? 'the scopes' : 'the scope'} ${lacking.join(', ')}.`;
  throw new Rejection('invalid_command', { errors: [{ pointer: '/eventTypes', detail }] });
};

/** An unchanged address stays valid, even if it would be refused now. */
const addressIn = (command: WebhookCommand, state: AggregateState): string | undefined => {
  if (command.type === 'RegisterWebhook') return command.url;
  const present = presentIn(state);
  const isChanged = 'url' in command && present !== undefined && command.url !== present.url;
  return isChanged ? command.url : undefined;
};

type Registering = { readonly decide: Decide; readonly quota: Quota };

const registering =
  ({ executor, domain, states }: HandlerDependencies, { decide, quota }: Registering) =>
  async (command: RegisterWebhook, { caller, execution }: Sent): Promise<Outcome> => {
    const ownerId = ownerOf(caller, command.ownerId, POINTER);
    const made = {
      ownerId,
      secret: newSecret(),
      scopes: scopesOf(caller) ?? scopesOfEvents(policyOf(domain)),
    };
    const targetOf = (id: number): WebhookTarget => ({
      decider: webhook,
      stream: webhookStream(id as WebhookId),
      async decide(state) {
        demand(caller, OPERATION, { resource: { fields: { owner: ownerId } } });
        await demandOwner({ domain, states }, { ownerId, named: command.ownerId, pointer: POINTER });
        await quota.demandRoom(ownerId);
        return { events: decide({ ...command, webhookId: id as WebhookId, ...made }, state) };
      },
    });
    return quota.take(ownerId, async () => {
      const outcome = await executor.create(targetOf, execution);
      quota.note(webhookStream(outcome.id as WebhookId), { ownerId, position: outcome.position });
      return outcome;
    });
  };

/** The scopes of the caller’s token that permit to read changes; undefined for callers who are no users. */
const scopesOf = (caller: Caller): readonly string[] | undefined =>
  caller.kind === 'user'
    ? scopesOfEvents(caller.policy).filter((scope) => caller.scopes.has(scope))
    : undefined;

/** A request has the id of its event. */
const requestIdOf = ({ execution }: Sent): string => execution.ids.event(0);

/** Callers who neither own it nor are administrators get “not found”. */
const demandOn = (caller: Caller, state: AggregateState): void => {
  // The decider reports that it does not exist.
  if (state.status === 'absent') return;
  demand(caller, OPERATION, {
    resource: { fields: state.fields },
    hidden: new Rejection('webhook_not_found'),
  });
};
