import { wire } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type Command, typeOfCommand } from '#kernel/decide/decide.ts';
import { personsInForm } from '#kernel/decide/persons-in-form.ts';
import type { AgentRequests } from '#kernel/registry/confirms.ts';
import type { CommandInfo, Confirmed, Domain, Kind } from '#kernel/registry/registry.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import { isAgent, userIdOf } from '#shared/policy.ts';
import type { Executor } from '../execute.ts';
import type { Sent } from '../handling/execution-context.ts';
import type { AnyHandler, Outcome } from '../handling/handler.ts';
import type { MakePlan, Plan } from './plan.ts';

export type Asking = {
  readonly domain: Domain;
  readonly requests: AgentRequests;
  readonly executor: Pick<Executor, 'look'>;
  readonly plan: MakePlan;
  /** The handler of the internal command that records a request. */
  readonly ask: AnyHandler;
};

type Asked = { readonly kind: Kind; readonly command: CommandInfo; readonly confirmed: Confirmed };

/** A request waits so long for a person. */
const OPEN_MS = 7 * 24 * 60 * 60 * 1_000;
const INPUT_CHARACTERS_MAX = 100_000;

/**
 * Executes the command of everybody else, and records that of an agent as a request. The command is decided first,
 * so that what would be refused now is refused to the agent, and bothers nobody.
 */
export const asking =
  (asking: Asking, asked: Asked, handler: AnyHandler): AnyHandler['handle'] =>
  async (given, sent) => {
    const { caller, execution } = sent;
    if (caller.kind !== 'user' || !isAgent(caller)) return handler.handle(given, sent);
    const { metadata, mayBeRepeatAfter } = execution;
    const seen = await lookAt(asking, given as Command, sent);
    // A repeated request finds itself, whatever the item has become.
    if (seen.events.length === 0 && mayBeRepeatAfter === undefined) return seen.unchanged;
    const input = JSON.stringify(given);
    if (input.length > INPUT_CHARACTERS_MAX)
      throw new Rejection('invalid_command', {
        errors: [
          { pointer: '', detail: `Must have at most ${INPUT_CHARACTERS_MAX} characters for a request.` },
        ],
      });
    const { confirmed, kind } = asked;
    const askedBy = userIdOf(caller);
    const { reference } = confirmed;
    const form = {
      type: typeOfCommand(asking.requests, 'ask'),
      askedById: askedBy,
      agent: caller.client ?? 'unknown',
      command: confirmed.type,
      target: seen.id === undefined ? `/${kind.path}` : `/${kind.path}/${seen.id}`,
      targetVersion: seen.id === undefined ? null : seen.unchanged.version,
      input,
      reason: metadata.reason ?? null,
      personId: personOf(asked, seen.events) ?? askedBy,
      expiresAt: new Date(Date.parse(metadata.at) + OPEN_MS).toISOString(),
      ...Object.fromEntries(
        referencesOf(asking.requests).map((name) => [
          `${name}Id`,
          name === reference ? (seen.id ?? null) : null,
        ]),
      ),
    };
    const outcome = await asking.ask.handle(form, {
      caller: { kind: 'system', name: 'agent-requests' },
      execution: { ...execution, ifVersion: undefined, unlessVersion: undefined },
    });
    return { ...outcome, isRequest: true };
  };

type Seen = {
  /** Undefined for a creation. */
  readonly id: number | undefined;
  readonly events: readonly AnnalsEvent[];
  /** The outcome if the command changes nothing. */
  readonly unchanged: Outcome;
};

const lookAt = async ({ executor, plan }: Asking, given: Command, sent: Sent): Promise<Seen> => {
  const planned: Plan = await plan(given, sent);
  if (planned.isCreation) {
    const id = sent.execution.ids.aggregate(0);
    const target = planned.targetOf(id);
    const { events } = await target.decide(target.decider.initial);
    return { id: undefined, events, unchanged: { id, version: NO_STREAM, position: START } };
  }
  const { target } = planned;
  const { basis, decision } = await executor.look(target, sent.execution);
  const id = Number(target.stream.slice(target.stream.lastIndexOf('-') + 1));
  const { version, position } = basis;
  return { id, events: decision.events, unchanged: { id, version, position } };
};

/** Every event names the user to whom the personal data of its aggregate belongs. */
const personOf = ({ kind, command }: Asked, events: readonly AnnalsEvent[]): unknown => {
  const [person] = personsInForm(kind, command);
  if (person === undefined) return undefined;
  const key = wire(person, kind.fields[person]);
  return events
    .map(({ data }) => (data as Readonly<Record<string, unknown>>)[key])
    .find((id) => id !== undefined);
};

/** Also those of kinds of which no command has `confirm` any more. */
const referencesOf = ({ fields, confirms }: AgentRequests): readonly string[] => {
  const own = new Set(confirms.flatMap(({ reference }) => reference ?? []));
  return Object.entries(fields).flatMap(([name, def]) =>
    def.kind === 'ref' && (own.has(name) || !PERSONS.has(name)) ? [name] : [],
  );
};
const PERSONS: ReadonlySet<string> = new Set(['askedBy', 'person', 'decidedBy']);
