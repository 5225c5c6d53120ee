import type { UserId } from '#shared/brands.ts';
import type { Command, CommandType } from '#shared/commands/command.ts';
import type { Appended } from '#shared/event-log/event-log.ts';
import { authorize, type Caller, type Operation, type Resource } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Circumstances } from './circumstances.ts';
import type { Executor } from './execute.ts';
import type { States } from './states.ts';
import type { EmailClaims } from './users/email-claims.ts';

/** What a command changed, and how far its stream and the log were then. */
export type Outcome = Appended & { readonly id: number };

/** How one type of command is carried out. */
type Handler<Type extends CommandType> = {
  /** What the caller must at least be admitted to, before anything is read. */
  readonly operation: Operation;
  handle(command: Extract<Command, { type: Type }>, sent: Sent): Promise<Outcome>;
};

export type HandlersOf<Type extends CommandType> = { readonly [Each in Type]: Handler<Each> };

export type Sent = { readonly caller: Caller; readonly circumstances: Circumstances };

export type HandlerDependencies = { readonly executor: Executor; readonly states: States; readonly claims: EmailClaims };

/** Who is the author of what a caller creates: whoever is named, else the caller. */
export const authorOf = (caller: Caller, named: UserId | undefined): UserId => {
  if (named !== undefined) return named;
  if (caller.kind === 'user') return caller.userId;
  throw new Rejection('invalid_command', { errors: [{ pointer: '/authorId', detail: 'Is missing.' }] });
};

/** Refuses what the policy does not allow. What the caller could not see is refused as absent. */
export const demand = (
  caller: Caller,
  operation: Operation,
  { resource, hidden }: { resource: Resource; hidden?: Rejection | undefined },
): void => {
  const answer = authorize(caller, operation, resource);
  if (answer === 'allowed') return;
  throw answer.code === 'forbidden' && hidden ? hidden : answer;
};
