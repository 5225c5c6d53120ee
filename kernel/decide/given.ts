import assert from 'node:assert/strict';
import { wire } from '../base/names.ts';
import { Rejection } from '../base/rejection.ts';
import type { Domain, Row } from '../registry/registry.ts';
import { typeOfCommand } from './decide.ts';
import { deciderOf } from './decider.ts';
import { ABSENT, type AggregateState } from './state.ts';

/** The id of every aggregate in the tests without one of its own, and of the user who owns all of them. */
export const ID = 8;
export const OWNER = 1;
const AT = '2026-01-02T03:04:05.678Z';

type Declared = { readonly kind: string; readonly events: unknown; readonly commands: unknown };
/** The name of an event, alone or with its data beside the ids. */
type GivenEvent<A extends Declared> =
  | (keyof A['events'] & string)
  | readonly [keyof A['events'] & string, Row];
/** An event of another aggregate, by its type and with all of its data: `['team.charged', { teamId: 8, spent: 40 }]`. */
type EventElsewhere = readonly [`${string}.${string}`, Row];
type Others = Readonly<Record<string, AggregateState | readonly AggregateState[]>>;

/**
 * Tests the rules of an aggregate in a sentence: `given(article, ['drafted',
 * content]).when('publish').yields('published')`. `others` are the targets of references, by kind, such as
 * the `state` of another sentence; kinds that are missing never existed. A list of states is searched by id:
 * `withId(9).given(…)` is about an aggregate with an id of its own.
 */
export const rulesOf = (domain: Domain) => ({
  given: givenOf(domain, ID),
  withId: (id: number) => ({ given: givenOf(domain, id) }),
});

const givenOf =
  (domain: Domain, own: number) =>
  <A extends Declared>({ kind: name }: A, ...history: readonly GivenEvent<A>[]) => {
    const kind = domain.kinds[name];
    assert(kind, `${name} is in the domain`);
    const decider = deciderOf(domain, kind);
    const isOwner = (field: string): boolean => field === kind.owner || field in kind.persons;
    const ids = Object.fromEntries(
      kind.identity.map((field) => [wire(field, kind.fields[field]), isOwner(field) ? OWNER : ID]),
    );
    const happened = (given: GivenEvent<A> | EventElsewhere) => {
      const [event, data]: readonly [string, Row] = typeof given === 'string' ? [given, {}] : given;
      const metadata = { at: AT, actor: `user:${OWNER}` } as const;
      if (event.includes('.')) return { type: event, data, metadata };
      return { type: `${name}.${event}`, data: { [`${name}Id`]: own, ...ids, ...data }, metadata };
    };
    const state = history.reduce(
      (before: AggregateState, given) => decider.evolve(before, happened(given)),
      ABSENT,
    );
    const sentence = (others: Others) => ({
      state,
      when(command: keyof A['commands'] & string, form: Row = {}) {
        const type = typeOfCommand(kind, command);
        const look = (of: string, id: unknown): AggregateState => stateIn(others[of], id);
        const decide = () =>
          decider
            .decide({ type, [`${name}Id`]: own, ...ids, ...form }, state, { callerId: OWNER, at: AT, look })
            .map(({ type, data }) => ({
              type,
              data,
            }));
        return {
          yields: (...events: readonly (GivenEvent<A> | EventElsewhere)[]): void =>
            assert.deepEqual(
              decide(),
              events.map(happened).map(({ type, data }) => ({ type, data })),
            ),
          changesNothing: (): void => assert.deepEqual(decide(), []),
          refuses: (code: string, says?: string): void =>
            assert.throws(
              decide,
              (error) =>
                error instanceof Rejection &&
                error.code === code &&
                (says ?? error.message) === error.message,
              `${command} is to be refused as ${code}`,
            ),
        };
      },
    });
    return { ...sentence({}), beside: sentence };
  };

const stateIn = (
  given: AggregateState | readonly AggregateState[] | undefined,
  id: unknown,
): AggregateState => {
  const found = isList(given)
    ? given.find((state) => state.status !== 'absent' && state.fields.id === id)
    : given;
  return found ?? ABSENT;
};

const isList = (given: unknown): given is readonly AggregateState[] => Array.isArray(given);
