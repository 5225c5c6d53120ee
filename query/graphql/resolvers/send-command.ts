import { GraphQLError } from 'graphql';
import type { Version } from '#shared/brands.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Command } from '#shared/commands/command.ts';
import { parseCursor } from '#shared/cursor.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { HTTP_PROBLEMS } from '#shared/http/http-problem.ts';
import type { Caller } from '#shared/policy.ts';
import type { ReadPosition } from '#shared/read-model/read-position.ts';
import type { RequestFacts } from '../execute.ts';

/** Sends the command of a mutation's root field, and waits until what it did can be read. Answers with the id of what was changed. */
export type SendCommand = (command: Command, options: { readonly key: string; readonly ifVersion: unknown }) => Promise<number>;

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
    { requestId, idempotencyKey, signal }: RequestFacts,
  ): SendCommand =>
  async (command, { key, ifVersion }) => {
    const { id, cursor } = await gateway.send(command, {
      caller,
      requestId,
      // Each root field is a command of its own, told by the name that it has in the answer.
      ...(idempotencyKey !== undefined && { idempotencyKey: `${idempotencyKey}.${key}` }),
      ...(typeof ifVersion === 'number' && { ifVersion: ifVersion as Version }),
    });
    if (await readPosition.reaches(parseCursor(eventLog.identity, cursor), visibleWithinMs, signal)) return id;
    // It happened, and repeating it would do it twice: the client may wait for the cursor instead.
    const [, title] = HTTP_PROBLEMS.not_yet_visible;
    throw new GraphQLError(title, { extensions: { code: 'not_yet_visible', committed: true, cursor, id: String(id) } });
  };
