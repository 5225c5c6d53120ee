import type { JsonObject } from '#kernel/base/json.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type Command, typeOfCommand } from '#kernel/decide/decide.ts';
import { patchedCommandsOf, patchType } from '#kernel/decide/forms.ts';
import type { AgentRequests } from '#kernel/registry/confirms.ts';
import { commandsOf } from '#shared/commands/command.ts';
import { isAgent } from '#shared/policy.ts';
import { aggregateHandlers } from '../aggregates/handle.ts';
import type { AnyHandler, HandlerDependencies } from '../handling/handler.ts';
import { approving, declining } from './approve.ts';
import { type Asking, asking } from './ask.ts';
import { createPlanner } from './plan.ts';

type Handlers = Readonly<Record<string, AnyHandler>>;

/** The handlers of a domain in which persons confirm commands of agents. */
export const confirming = (
  requests: AgentRequests,
  dependencies: HandlerDependencies,
  handlers: Handlers,
): Handlers => {
  const { domain, executor } = dependencies;
  const plan = createPlanner(dependencies);
  const own = (name: string) => typeOfCommand(requests, name);
  const ask = aggregateHandlers({ ...dependencies, rules: {} }, { withInternal: true })[own('ask')];
  const [approve, decline] = [handlers[own('approve')], handlers[own('decline')]];
  if (ask === undefined || approve === undefined || decline === undefined)
    throw new Error(`${requests.name} lacks a command`);
  const parts: Asking = { domain, requests, executor, plan, ask };
  return {
    ...handlers,
    ...Object.fromEntries(followedBy(parts, handlers)),
    ...Object.fromEntries(confirmedBy(parts, handlers)),
    [own('approve')]: {
      ...approve,
      handle: approving({
        ...{ ...dependencies, requests, plan, parse: parserOf(dependencies) },
        needsReason: (command) => handlers[command.type]?.needsReason?.(command) === true,
      }),
    },
    [own('decline')]: { ...decline, handle: declining(decline) },
  };
};

/** Each command with `confirm`, and the patch that is its other form. */
const confirmedBy = (
  parts: Asking,
  handlers: Handlers,
): readonly (readonly [type: string, handler: AnyHandler])[] =>
  parts.requests.confirms.flatMap((confirmed) => {
    const kind = parts.domain.kinds[confirmed.kind];
    const command = kind?.commands[confirmed.command];
    if (kind === undefined || command === undefined) return [];
    const patches = patchedCommandsOf(kind).includes(command) ? [patchType(kind, command.list)] : [];
    return [confirmed.type, ...patches].flatMap((type) => {
      const handler = handlers[type];
      if (handler === undefined) return [];
      const handle = asking(parts, { kind, command, confirmed }, handler);
      return [[type, { ...handler, handle }] as const];
    });
  });

/** A form that can also run a command with `confirm`, as `"publish": true`, is no way around a person. */
const followedBy = (
  { domain }: Asking,
  handlers: Handlers,
): readonly (readonly [type: string, handler: AnyHandler])[] =>
  Object.values(domain.kinds).flatMap((kind) =>
    Object.values(kind.commands).flatMap((command) => {
      const type = typeOfCommand(kind, command.name);
      const handler = handlers[type];
      const confirmed = command.next.filter((next) => kind.commands[next]?.confirm);
      if (handler === undefined || command.confirm || confirmed.length === 0) return [];
      const handle: AnyHandler['handle'] = async (given, sent) => {
        const errors = confirmed
          .filter((next) => (given as Readonly<Record<string, unknown>>)[next] === true)
          .map((next) => ({ pointer: `/command/${next}`, detail: CONFIRMED_ALONE }));
        if (errors.length > 0 && isAgent(sent.caller)) throw new Rejection('invalid_command', { errors });
        return handler.handle(given, sent);
      };
      return [[type, { ...handler, handle }] as const];
    }),
  );
const CONFIRMED_ALONE =
  'A person must approve this: leave it out, and send it as a command of its own afterwards.';

/** A stored command is read by the present schemas: the declaration may have changed since. */
const parserOf = ({ domain }: HandlerDependencies): ((input: string) => Command) => {
  const schema = commandsOf(domain);
  return (input) => {
    const parsed = schema.safeParse(JSON.parse(input) as JsonObject);
    if (parsed.success) return parsed.data as Command;
    throw new Rejection('request_outdated');
  };
};
