import * as z from 'zod';
import { commandSchemasOf } from '#kernel/decide/forms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { typesOf } from '#shared/events/event-patterns.ts';
import {
  DeleteWebhook,
  DisableWebhook,
  EditWebhook,
  EnableWebhook,
  PatchWebhook,
  RedeliverDelivery,
  RedriveWebhook,
  RegisterWebhook,
  ReplaceWebhook,
  ReplayWebhook,
  RotateWebhookSecret,
  TestWebhook,
} from './webhook.ts';

const KERNEL_COMMANDS = [
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
export type KernelCommand = Readonly<z.infer<(typeof KERNEL_COMMANDS)[number]>>;
export type KernelCommandType = KernelCommand['type'];

/** To an aggregate of the domain; its declaration says what it holds. */
type DomainCommand = { readonly type: string; readonly [field: string]: unknown };
export type Command = KernelCommand | DomainCommand;

/** Every command that a client can send, however it came. */
export const commandsOf = (domain: Domain): z.ZodType<Command> => {
  const kernel = KERNEL_COMMANDS.map((command) => askingFor(domain, command));
  // Each has its type; the compiler sees no more of a list that is made.
  const all = [...kernel, ...commandSchemasOf(domain)] as unknown as typeof KERNEL_COMMANDS;
  return z.discriminatedUnion('type', all) as z.ZodType<Command>;
};

/** Of webhooks: which types of events there are to ask for, only the domain says. */
const askingFor = (domain: Domain, command: z.ZodObject): z.ZodObject => {
  const { eventTypes } = command.shape;
  if (!(eventTypes instanceof z.ZodType)) return command;
  const isThere = (patterns: unknown) =>
    patterns === undefined || (patterns as readonly string[]).every((each) => typesOf(catalogueOf(domain), each).length > 0);
  const error = 'Must be types of `/event-types`, or all of a kind (`user.*`), or all (`*`).';
  return command.extend({ eventTypes: eventTypes.refine(isThere, { error }) });
};
