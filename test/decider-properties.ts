import fc from 'fast-check';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import { wire } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type Command, typeOfCommand } from '#kernel/decide/decide.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { type AnnalsEvent, catalogueOf } from '#shared/events/catalogue.ts';
import type { Decider } from '../command/decider.ts';
import { fold } from './given.ts';

const COMMANDS_MAX = 12;

/** Properties of every decider, over any sequence of commands; the commands must concern one aggregate. */
export const describeDecider = <State, Command, Event extends AnnalsEvent>(
  decider: Decider<State, Command, Event>,
  command: fc.Arbitrary<Command>,
): void => {
  const commands = fc.array(command, { maxLength: COMMANDS_MAX });

  test('repeating any command is a no-op or a refusal', () => {
    fc.assert(
      fc.property(commands, command, (earlier, repeated) => {
        const state = fold(decider, run(decider, earlier));
        const events = decideOrRefuse(decider, repeated, state);
        const after = events.reduce((each, event) => decider.evolve(each, event), state);
        expect(decideOrRefuse(decider, repeated, after)).toEqual([]);
      }),
    );
  });

  test('the log accepts every event that it decides', () => {
    fc.assert(
      fc.property(commands, (all) => {
        for (const { type, data } of run(decider, all)) {
          const definition = catalogueOf(publishing).find(type) as EventDefinition;
          expect(definition.schema.parse(data)).toEqual(data);
        }
      }),
    );
  });

  test('a replay of stored events gives the state after deciding', () => {
    fc.assert(
      fc.property(commands, (all) => {
        let state = decider.initial;
        const log: Event[] = [];
        for (const each of all) {
          const events = decideOrRefuse(decider, each, state);
          state = events.reduce((known, event) => decider.evolve(known, event), state);
          log.push(...events);
        }
        // The log returns JSON.
        expect(fold(decider, JSON.parse(JSON.stringify(log)))).toEqual(state);
      }),
    );
  });

  test('neither evolving nor deciding fails after the personal fields of the past were erased', () => {
    fc.assert(
      fc.property(commands, command, (earlier, next) => {
        const state = fold(decider, run(decider, earlier).map(erased));
        expect(() => decideOrRefuse(decider, next, state)).not.toThrow();
      }),
    );
  });

  test('a state is never changed in place', () => {
    fc.assert(
      fc.property(commands, (all) => {
        const evolve = (state: State, event: Event) => freeze(decider.evolve(state, freeze(event)));
        expect(() => run({ ...decider, evolve }, all)).not.toThrow();
      }),
    );
  });
};

type Forms = Readonly<Record<string, fc.Arbitrary<Row>>>;

/** The same for a kind of a domain, over all of its commands, with arbitrary targets of its references. */
export const describeKind = (
  domain: Domain,
  name: string,
  forms: Forms,
  others: readonly AggregateState[] = [ABSENT],
): void => {
  const kind = domain.kinds[name];
  if (kind === undefined) throw new Error(`${name} is no kind of the domain`);
  const { initial, evolve, decide } = deciderOf(domain, kind);
  const ids = Object.fromEntries(
    [`${name}Id`, ...kind.identity.map((each) => wire(each, kind.fields[each]))].map((key) => [key, ID]),
  );
  const command = fc.oneof(
    ...Object.keys(kind.commands).map((each) =>
      fc
        .tuple(forms[each] ?? fc.constant({}), fc.constantFrom(...others))
        .map(([form, other]) => ({ command: { type: typeOfCommand(kind, each), ...ids, ...form }, other })),
    ),
  );
  describeDecider<AggregateState, { readonly command: Command; readonly other: AggregateState }, AnnalsEvent>(
    {
      initial,
      evolve: (state, event) => evolve(state, { ...event, metadata: { at: AT, actor: `user:${ID}` } }),
      decide: ({ command, other }, state) =>
        decide(command, state, {
          callerId: ID,
          at: AT,
          look: () => other,
        }) as readonly unknown[] as readonly AnnalsEvent[],
    },
    command,
  );
};

const AT = '2026-01-02T03:04:05.678Z';
const ID = 8;

/** The events of a sequence of commands, without refusals. */
const run = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  commands: readonly Command[],
): readonly Event[] => {
  let state = decider.initial;
  return commands.flatMap((command) => {
    const events = decideOrRefuse(decider, command, state);
    state = events.reduce((each, event) => decider.evolve(each, event), state);
    return events;
  });
};

const decideOrRefuse = <State, Command, Event>(
  decider: Decider<State, Command, Event>,
  command: Command,
  state: State,
): readonly Event[] => {
  try {
    return decider.decide(command, state);
  } catch (error) {
    if (error instanceof Rejection) return [];
    throw error;
  }
};

const erased = <Event extends AnnalsEvent>(event: Event): Event => {
  const definition = catalogueOf(publishing).find(event.type) as EventDefinition;
  const nulls = Object.fromEntries((definition.personal?.fields ?? []).map((field) => [field, null]));
  return { ...event, data: { ...event.data, ...nulls } };
};

const freeze = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
};
