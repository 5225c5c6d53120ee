import * as z from 'zod';
import { later } from '#kernel/base/later.ts';
import { commandSchemasOf } from '#kernel/decide/forms.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';

/** Loaded where webhooks are served. */
export const WEBHOOK_COMMANDS = later('The module of the commands of webhooks', () => import('./webhook.ts'));

const kernelCommandsOf = (domain: Domain) => {
  const {
    DeleteWebhook,
    DisableWebhook,
    EnableWebhook,
    PatchWebhook,
    RedeliverDelivery,
    RedriveWebhook,
    ReplayWebhook,
    RotateWebhookSecret,
    TestWebhook,
    webhookFormsOf,
  } = WEBHOOK_COMMANDS.module;
  const { RegisterWebhook, ReplaceWebhook, EditWebhook } = webhookFormsOf(domain);
  return [
    RegisterWebhook,
    ReplaceWebhook,
    EditWebhook,
    PatchWebhook,
    RotateWebhookSecret,
    EnableWebhook,
    DisableWebhook,
    DeleteWebhook,
    TestWebhook,
    ReplayWebhook,
    RedeliverDelivery,
    RedriveWebhook,
  ] as const;
};
export type KernelCommand = Readonly<z.infer<ReturnType<typeof kernelCommandsOf>[number]>>;
export type KernelCommandType = KernelCommand['type'];

/** To an aggregate of the domain; its declaration defines the fields. */
type DomainCommand = { readonly type: string; readonly [field: string]: unknown };
export type Command = KernelCommand | DomainCommand;

/** Every command that a client can send, on any interface. */
export const commandsOf = (domain: Domain): z.ZodType<Command> => {
  // Each has its type; the compiler cannot see that in a computed list.
  const all = [
    ...(serves(domain, 'webhooks') ? kernelCommandsOf(domain) : []),
    ...commandSchemasOf(domain),
  ] as unknown as ReturnType<typeof kernelCommandsOf>;
  return z.discriminatedUnion('type', all) as z.ZodType<Command>;
};
