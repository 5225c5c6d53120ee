import { createHash } from 'node:crypto';
import type { Version } from '#kernel/base/brands.ts';
import { parseCursor } from '#kernel/base/cursor.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { CommandGateway, CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { unitsMoreOf } from '#shared/commands/units.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { RequestFacts } from '../execute.ts';
import type { Commits } from './commits.ts';

/** Throws if the command would be refused; changes nothing. */
export type CheckCommand = (
  command: Command,
  asked: Pick<SendOptions, 'ifVersion' | 'reason'>,
) => Promise<void>;

/** Sends the command of a root field, and waits until its result can be read. */
export type SendCommand = (command: Command, options: SendOptions) => Promise<CommandResult>;

type SendOptions = {
  /** The key of the root field in the answer. */
  readonly field: string;
  readonly ifVersion: unknown;
  readonly reason: unknown;
  readonly signature?: unknown;
  /** False for commands to which the idempotency key of the request does not apply. */
  readonly takesKey?: boolean;
};

export type CommandsOptions = {
  readonly gateway: CommandGateway;
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly visibleWithinMs: number;
};

export const createSendCommand =
  (
    { gateway, readPosition, eventLog, visibleWithinMs }: CommandsOptions,
    { caller, facts, commits }: Sender,
  ): SendCommand =>
  async (command, { field, ifVersion, takesKey = true, ...asked }) => {
    const { requestId, trace, idempotencyKey, charge, signal } = facts;
    const unitsMore = unitsMoreOf(command, caller);
    if (unitsMore > 0) await charge(unitsMore);
    const key =
      takesKey && idempotencyKey !== undefined ? { idempotencyKey: keyOfField(idempotencyKey, field) } : {};
    const context = { caller, requestId, trace, ...key, ...versionOf(ifVersion), ...besideIn(asked) };
    const result = await commits.record(field, () => gateway.send(command, context));
    if (await readPosition.reaches(parseCursor(eventLog.identity, result.cursor), visibleWithinMs, signal))
      return result;
    // The command is committed, and repeating it would do it twice. The client may wait for the cursor instead.
    throw new HttpProblem('not_yet_visible');
  };

type Sender = { readonly caller: Caller; readonly facts: RequestFacts; readonly commits: Commits };

const KEY_CHARACTERS_MAX = 255;

/**
 * Each root field derives a key of its own from the request’s key. A key that would be too long becomes its
 * digest.
 */
const keyOfField = (idempotencyKey: string, field: string): string => {
  const key = `${idempotencyKey}.${field}`;
  return key.length <= KEY_CHARACTERS_MAX ? key : createHash('sha256').update(key).digest('base64url');
};

export const createCheckCommand =
  ({ gateway }: CommandsOptions, caller: Caller, { requestId, trace }: RequestFacts): CheckCommand =>
  async (command, { ifVersion, ...asked }) => {
    await gateway.send(command, { caller, requestId, trace, ...versionOf(ifVersion), ...besideIn(asked) });
  };

type Beside = { readonly reason?: string; readonly signature?: string };

const besideIn = ({ reason, signature }: Pick<SendOptions, 'reason' | 'signature'>): Beside => ({
  ...(typeof reason === 'string' && { reason }),
  ...(typeof signature === 'string' && { signature }),
});

const versionOf = (given: unknown): { readonly ifVersion?: Version } =>
  typeof given === 'number' ? { ifVersion: given as Version } : {};
