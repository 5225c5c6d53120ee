import type { EventId, Version } from '#kernel/base/brands.ts';
import type { Cursor } from '#kernel/base/cursor.ts';
import type { Command } from '#shared/commands/command.ts';
import type { Caller } from '#shared/policy.ts';
import type { Withheld } from '#shared/rest/withheld.ts';

/**
 * Sends a command to the command role: a direct call in one process, HTTP between processes. A refusal is a
 * `Rejection`; an unknown outcome is `CommandUnavailable`.
 */
export type CommandGateway = {
  send(command: Command, context: CommandContext): Promise<CommandResult>;
};

export type CommandContext = {
  readonly caller: Caller;
  readonly requestId: string;
  /** Shared by everything that one request causes; the request’s own id by default. */
  readonly correlationId?: string | undefined;
  /** The `traceparent` of the sender. */
  readonly trace?: string | undefined;
  /** The event that causes the command. */
  readonly causationId?: EventId | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Why, as the caller says. */
  readonly reason?: string | undefined;
  /** The id of the signature that the caller has given for it. */
  readonly signature?: string | undefined;
  /** The content that the key identifies, if a repetition of the same request results in another command. */
  readonly content?: string | undefined;
  /** The version that the item must have, or one of those, as in `If-Match`. */
  readonly ifVersion?: Version | readonly Version[] | undefined;
  /** The versions that it must not have, as in `If-None-Match`. */
  readonly unlessVersion?: 'any' | readonly Version[] | undefined;
};

export type CommandResult = {
  readonly id: number;
  readonly version: Version;
  /** The position of the change in the log; a read that waits for it sees the change. */
  readonly cursor: Cursor;
  /** A new secret, for the caller alone; a repetition of the command reads it from the event. */
  readonly secret?: string;
  /** For a registered webhook: the event types that are withheld from it, and why. */
  readonly withheld?: readonly Withheld[];
  /** The event of a request that is carried out later, whose id leads to the outcome. */
  readonly eventId?: EventId;
  /** The key of an item that was added to a list. */
  readonly itemId?: number | string;
  /** Of a request with `content`: another command has carried it out before. */
  readonly isRepeat?: boolean;
};

/**
 * The command could not be handed over, or the log did not respond: it may or may not have been carried out.
 */
export class CommandUnavailable extends Error {
  readonly code = 'command_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandUnavailable';
  }
}
