import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { AppendTooLarge, TooManyEvents } from '#shared/event-log/errors.ts';
import type { Caller } from '#shared/policy.ts';
import { roleAndAttributesIn } from '#shared/role-and-attributes.ts';
import { freshIds, type Sent } from '../handling/execution-context.ts';
import type { AnyHandler } from '../handling/handler.ts';
import { streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';
import { userStream, usersOf } from '../users/user.ts';
import { commandIn, commandNamed } from './command-of-line.ts';
import { demandPast } from './in-order.ts';
import { type Imported, requestOf } from './known-keys.ts';
import { type ImportLine, refusedLine } from './line.ts';
import { FaultOfLine, idNamed } from './resolve-names.ts';

type Importer = {
  /** Runs the command of a line at its time. Throws a sentence about the line if it cannot. */
  take(line: ImportLine): Promise<void>;
};

type Dependencies = {
  readonly domain: Domain;
  readonly states: States;
  /** The handlers of all commands, internal ones too. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  readonly newId: () => number;
  readonly clock: Clock;
  /** Throws if the line comes too late. */
  demandTime(line: ImportLine): void;
};

/**
 * Imports the commands of another system with their times and authors. The rules of the domain hold, and
 * rights are not asked: whoever may import may do everything.
 */
export const createImporter = (dependencies: Dependencies, keys: Map<string, Imported>): Importer => {
  const { domain, states, handlers, newId, clock, demandTime } = dependencies;
  const importedAt = new Date(clock.nowMs()).toISOString();

  /** The author as of this line: the fields that conditions compare are those that its lines have made. */
  const authorOf = async ({ actor }: ImportLine): Promise<Author | undefined> => {
    if (actor === undefined) return undefined;
    const userId = idNamed(keys, 'user', actor) as UserId;
    const { state } = await states.load<AggregateState, never>(usersOf(domain), userStream(userId));
    if (state.status === 'absent') throw new FaultOfLine(`there is no user ${userId}`);
    return { userId, attributes: roleAndAttributesIn(domain, state.fields).attributes ?? undefined };
  };

  const sentBy = async (line: ImportLine): Promise<Sent> => {
    const actingFor = await authorOf(line);
    const request = requestOf(line.key);
    return {
      caller: { kind: 'system', name: 'import', actingFor },
      execution: {
        metadata: {
          at: line.at,
          actor: actingFor === undefined ? 'system:import' : `user:${actingFor.userId}`,
          client: null,
          ...{ request, correlation: request, causation: null, importedAt, reason: line.reason },
        },
        ids: freshIds(newId),
        ...{ ifVersion: undefined, unlessVersion: undefined, mayBeRepeatAfter: undefined },
      },
    };
  };

  const take = async (line: ImportLine) => {
    demandPast(line, importedAt);
    demandTime(line);
    const { kind, command } = commandNamed(domain, line);
    const sent = await sentBy(line);
    const handler = handlers[typeOfCommand(kind, command.name)];
    if (handler === undefined) throw new Error(`${command.name} has no handler`);
    const outcome = await handler.handle(commandIn(keys, line, { kind, command }), sent);
    const itemId = await itemAdded(dependencies, { kind, command, handler, outcome });
    keys.set(line.key, { kind: kind.name, id: outcome.id, itemId });
  };
  return {
    take: (line) =>
      take(line).catch((error: unknown) => {
        throw explained(line, error);
      }),
  };
};

type Added = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly handler: AnyHandler;
  readonly outcome: Awaited<ReturnType<AnyHandler['handle']>>;
};

/** Numbers of items count up, so that of a single event is the greatest. */
const itemAdded = async ({ domain, states }: Dependencies, { kind, command, handler, outcome }: Added) => {
  const { list, events } = command;
  if (list === undefined || list.key !== undefined || command.kind !== 'addItem') return undefined;
  const known =
    events.length === 1
      ? states.recall<AggregateState, never>(deciderOf(domain, kind), streamOf(kind, outcome.id))
      : undefined;
  if (known?.state.status === 'present') return known.state.numbers?.[list.name];
  return (await handler.reveal?.(outcome))?.itemId;
};

type Author = NonNullable<Extract<Caller, { kind: 'system' }>['actingFor']>;

/** Faults of the file and refusals of the domain are sentences; everything else is a fault of the server. */
const explained = (line: ImportLine, error: unknown): unknown => {
  if (error instanceof FaultOfLine) return refusedLine(line, error.message);
  if (error instanceof TooManyEvents || error instanceof AppendTooLarge)
    return refusedLine(line, error.message, error);
  if (!(error instanceof Rejection)) return error;
  const [first] = (error.details.errors ?? []) as readonly {
    readonly pointer: string;
    readonly detail: string;
  }[];
  const why =
    first === undefined
      ? `${error.message.replace(/\.$/, '')} (${error.code})`
      : `${first.pointer} ${first.detail}`;
  return refusedLine(line, why.trim(), error);
};
