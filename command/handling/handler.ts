import type { UserId } from '#kernel/base/brands.ts';
import type { Operation } from '#kernel/base/operation.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { WebhookSettings } from '#process/config.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command, KernelCommand, KernelCommandType } from '#shared/commands/command.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Appended, EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import { admitByScope, authorize, type Caller, type Resource, userIdOf } from '#shared/policy.ts';
import type { AdministratorKeeper } from '../administrators/keep-administrator.ts';
import type { Limits } from '../aggregates/limits.ts';
import type { Executor } from '../execute.ts';
import type { States } from '../states.ts';
import type { Sent } from './execution-context.ts';

/** The aggregate that a command changed, with the resulting version and position. */
export type Outcome = Appended & {
  readonly id: number;
  /** True if an earlier request with the same key did it. */
  readonly isRepeat?: boolean;
  /** True if it is the request of an agent that a person must approve, and nothing else has happened. */
  readonly isRequest?: boolean;
};

/** The handler of one type of command. */
type Handler<Type extends KernelCommandType> = {
  /** The right that the caller needs before anything is read. */
  readonly operation: Operation;
  handle(command: Extract<KernelCommand, { type: Type }>, sent: Sent): Promise<Outcome>;
  /**
   * Further results of an outcome, read from the event: outcomes are stored in clear, and secrets are stored
   * only in events, sealed.
   */
  reveal?(outcome: Outcome): Promise<Revealed>;
};

/**
 * A handler that accepts any command: the table lists each under its own type, so that it gets the right one.
 */
export type AnyHandler = {
  /** Checks that need no reads. */
  admit(caller: Caller): 'allowed' | Rejection;
  /** Whether a caller must say why. */
  needsReason?(command: Command): boolean;
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

/** The operator’s restrictions on webhooks. */
export type WebhookRules = Pick<WebhookSettings, 'guard' | 'perOwnerMax'>;

/** The owner of a new aggregate: the named user, or the caller. */
export const ownerOf = (caller: Caller, named: UserId | undefined, pointer: string): UserId => {
  if (named !== undefined) return named;
  const author = userIdOf(caller);
  if (author !== null) return author;
  throw new Rejection('invalid_command', { errors: [{ pointer, detail: 'Is missing.' }] });
};

/**
 * Refuses what the policy forbids, and commands for which the token lacks a scope. An aggregate that the
 * caller cannot see is reported as absent.
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
