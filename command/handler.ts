import type { Domain } from '#kernel/registry/registry.ts';
import type { UserId } from '#shared/brands.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command, KernelCommand, KernelCommandType } from '#shared/commands/command.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Appended, EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { admitByScope, authorize, type Caller, type Operation, type Resource } from '#shared/policy.ts';
import type { WebhookSettings } from '#shared/process/config.ts';
import { Rejection } from '#shared/rejection.ts';
import type { AdministratorKeeper } from './administrators/keep-administrator.ts';
import type { Limits } from './aggregates/limits.ts';
import type { Sent } from './circumstances.ts';
import type { Executor } from './execute.ts';
import type { States } from './states.ts';

/** What a command changed, and how far its stream and the log were then. */
export type Outcome = Appended & {
  readonly id: number;
  /** Whether an earlier request with the same key did it. */
  readonly isRepeat?: boolean;
};

/** How one type of command is carried out. */
type Handler<Type extends KernelCommandType> = {
  /** What the caller must at least be admitted to, before anything is read. */
  readonly operation: Operation;
  handle(command: Extract<KernelCommand, { type: Type }>, sent: Sent): Promise<Outcome>;
  /**
   * What an outcome made beside a version. It is read from the event: outcomes are kept, and secrets stand
   * nowhere but there, sealed.
   */
  reveal?(outcome: Outcome): Promise<Revealed>;
};

/** One that takes any command: the table has each under its own type, so that it is given what it expects. */
export type AnyHandler = {
  /** What can be said before anything is read. */
  admit(caller: Caller): 'allowed' | Rejection;
  handle(command: Command, sent: Sent): Promise<Outcome>;
  reveal?(outcome: Outcome): Promise<Revealed>;
};

export type Revealed = Pick<CommandResult, 'secret' | 'eventId' | 'withheld' | 'itemId'>;

export type HandlersOf<Type extends KernelCommandType> = { readonly [Each in Type]: Handler<Each> };

export type HandlerDependencies = {
  readonly domain: Domain;
  readonly log: EventLog;
  readonly codec: Codec;
  readonly executor: Executor;
  readonly states: States;
  readonly limits: Limits;
  readonly administrators: AdministratorKeeper;
  readonly pool: Pick<Pool, 'query'>;
  readonly webhooks: WebhookRules;
};

/** What the operator lets webhooks be. */
export type WebhookRules = Pick<WebhookSettings, 'guard' | 'perOwnerMax'>;

/** Whose is what a caller creates: whoever is named, else the caller. */
export const ownerOf = (caller: Caller, named: UserId | undefined, pointer: string): UserId => {
  if (named !== undefined) return named;
  if (caller.kind === 'user') return caller.userId;
  throw new Rejection('invalid_command', { errors: [{ pointer, detail: 'Is missing.' }] });
};

/**
 * Refuses what the policy does not allow, and to a command also what the token has no scope for. What the
 * caller could not see is absent.
 */
export const demand = (
  caller: Caller,
  operation: Operation,
  { resource, hidden }: { resource: Resource; hidden?: Rejection | undefined },
): void => {
  const admission = admitByScope(caller, operation);
  const answer = admission === 'allowed' ? authorize(caller, operation, resource) : admission;
  if (answer === 'allowed') return;
  throw answer.code === 'forbidden' && hidden ? hidden : answer;
};
