import { GraphQLError } from 'graphql';
import type { Version } from '#shared/brands.ts';
import type { CommandGateway, CommandResult } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { unitsMoreOf } from '#shared/commands/units.ts';
import { parseCursor } from '#shared/cursor.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { HTTP_PROBLEMS } from '#shared/http/http-problem.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { RequestFacts } from '../execute.ts';

/** Asks whether a command would be refused that itself changes nothing. */
export type CheckCommand = (command: Command, ifVersion: unknown) => Promise<void>;

/** Sends the command of a mutation's root field, and waits until what it did can be read. */
export type SendCommand = (
  command: Command,
  options: { readonly key: string | undefined; readonly ifVersion: unknown },
) => Promise<CommandResult>;

export type CommandsOptions = {
  readonly gateway: CommandGateway;
  readonly readPosition: Pick<ReadPosition, 'reaches'>;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly visibleWithinMs: number;
};

export const createSendCommand =
  (
    { gateway, readPosition, eventLog, visibleWithinMs }: CommandsOptions,
    caller: Caller,
    { requestId, trace, idempotencyKey, charge, signal }: RequestFacts,
  ): SendCommand =>
  async (command, { key, ifVersion }) => {
    const unitsMore = unitsMoreOf(command, caller);
    if (unitsMore > 0) await charge(unitsMore);
    const result = await gateway.send(command, {
      caller,
      requestId,
      trace,
      // Each root field is a command of its own, told by the name that it has in the answer; without one, it may be repeated.
      ...(idempotencyKey !== undefined && key !== undefined && { idempotencyKey: `${idempotencyKey}.${key}` }),
      ...versionOf(ifVersion),
    });
    const { id, cursor } = result;
    if (await readPosition.reaches(parseCursor(eventLog.identity, cursor), visibleWithinMs, signal)) return result;
    // It happened, and repeating it would do it twice: the client may wait for the cursor instead.
    const [, title] = HTTP_PROBLEMS.not_yet_visible;
    throw new GraphQLError(title, { extensions: { code: 'not_yet_visible', committed: true, cursor, id: String(id) } });
  };

export const createCheckCommand =
  ({ gateway }: CommandsOptions, caller: Caller, { requestId, trace }: RequestFacts): CheckCommand =>
  async (command, ifVersion) => {
    await gateway.send(command, { caller, requestId, trace, ...versionOf(ifVersion) });
  };

const versionOf = (given: unknown): { readonly ifVersion?: Version } => (typeof given === 'number' ? { ifVersion: given as Version } : {});
