import type { EventId, Version } from '#shared/brands.ts';
import type { Command } from '#shared/commands/command.ts';
import type { Cursor } from '#shared/cursor.ts';
import type { Caller } from '#shared/policy.ts';
import type { Withheld } from '#shared/rest/webhook.ts';

/**
 * Sends a command to where it is handled: a direct call in one process, HTTP between processes.
 * A refusal is a `Rejection`; where it is unknown whether the command was carried out, `CommandUnavailable`.
 */
export type CommandGateway = {
  send(command: Command, context: CommandContext): Promise<CommandResult>;
};

export type CommandContext = {
  readonly caller: Caller;
  readonly requestId: string;
  /** Follows everything that one request causes; the request's own id unless it came with another. */
  readonly correlationId?: string | undefined;
  /** The `traceparent` of what sends it. */
  readonly trace?: string | undefined;
  /** The event because of which the command is sent. */
  readonly causationId?: EventId | undefined;
  readonly idempotencyKey?: string | undefined;
  /**
   * What the key stands for instead of the command, where a repetition of the same request makes another
   * command.
   */
  readonly content?: string | undefined;
  /** The version that the item must have, or one of those, as `If-Match` says. */
  readonly ifVersion?: Version | readonly Version[] | undefined;
  /** The versions that it must not have, as `If-None-Match` says. */
  readonly unlessVersion?: 'any' | readonly Version[] | undefined;
};

export type CommandResult = {
  readonly id: number;
  readonly version: Version;
  /** Where the change stands in the log; a read that waits for it sees it. */
  readonly cursor: Cursor;
  /**
   * The secret that it made: for the caller alone, and read from the event again where the command is a
   * repetition.
   */
  readonly secret?: string;
  /** Of a webhook that was registered: what of its types is not sent to it, and why. */
  readonly withheld?: readonly Withheld[];
  /** The event that a request came to, where what becomes of it is found by the id of that. */
  readonly eventId?: EventId;
  /** What tells the item apart that was added to a list. */
  readonly itemId?: number | string;
  /** Of a request with `content`: it was carried out before, by another command. */
  readonly isRepeat?: boolean;
};

/**
 * The command could not be handed over, or the log did not answer: it may or may not have been carried out.
 */
export class CommandUnavailable extends Error {
  readonly code = 'command_unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandUnavailable';
  }
}
