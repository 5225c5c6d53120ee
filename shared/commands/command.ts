import * as z from 'zod';
import { commandSchemasOf } from '#kernel/decide/forms.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { DeleteUser, PatchUser, RegisterUser, UpdateUser } from './user.ts';
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
  RegisterUser,
  UpdateUser,
  PatchUser,
  DeleteUser,
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
export const commandsOf = (domain: Domain): z.ZodType<Command> =>
  z.discriminatedUnion('type', [...KERNEL_COMMANDS, ...commandSchemasOf(domain)]) as z.ZodType<Command>;
