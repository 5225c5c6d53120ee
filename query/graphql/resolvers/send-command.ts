import { createHash } from 'node:crypto';
import type { Version } from '#shared/brands.ts';
import type { CommandGateway, CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { unitsMoreOf } from '#shared/commands/units.ts';
import { parseCursor } from '#shared/cursor.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { RequestFacts } from '../execute.ts';
import type { Commits } from './commits.ts';

/** Asks whether a command would be refused that itself changes nothing. */
export type CheckCommand = (command: Command, ifVersion: unknown) => Promise<void>;

/** Sends the command of a mutation's root field, and waits until what it did can be read. */
export type SendCommand = (command: Command, options: SendOptions) => Promise<CommandResult>;

type SendOptions = {
  /** The root field, by its name in the answer. */
  readonly field: string;
  readonly ifVersion: unknown;
  /** Whether the idempotency key of the request holds for it. */
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
  async (command, { field, ifVersion, takesKey = true }) => {
    const { requestId, trace, idempotencyKey, charge, signal } = facts;
    const unitsMore = unitsMoreOf(command, caller);
    if (unitsMore > 0) await charge(unitsMore);
    const key =
      takesKey && idempotencyKey !== undefined ? { idempotencyKey: keyOfField(idempotencyKey, field) } : {};
    const context = { caller, requestId, trace, ...key, ...versionOf(ifVersion) };
    const result = await commits.record(field, () => gateway.send(command, context));
    if (await readPosition.reaches(parseCursor(eventLog.identity, result.cursor), visibleWithinMs, signal))
      return result;
    // It happened, and repeating it would do it twice: the client may wait for the cursor instead.
    throw new HttpProblem('not_yet_visible');
  };

type Sender = { readonly caller: Caller; readonly facts: RequestFacts; readonly commits: Commits };

const KEY_CHARACTERS_MAX = 255;

/**
 * Each root field is a command of its own under the key of the request. What would be too long stands in it
 * as a digest.
 */
const keyOfField = (idempotencyKey: string, field: string): string => {
  const key = `${idempotencyKey}.${field}`;
  return key.length <= KEY_CHARACTERS_MAX ? key : createHash('sha256').update(key).digest('base64url');
};

export const createCheckCommand =
  ({ gateway }: CommandsOptions, caller: Caller, { requestId, trace }: RequestFacts): CheckCommand =>
  async (command, ifVersion) => {
    await gateway.send(command, { caller, requestId, trace, ...versionOf(ifVersion) });
  };

const versionOf = (given: unknown): { readonly ifVersion?: Version } =>
  typeof given === 'number' ? { ifVersion: given as Version } : {};
