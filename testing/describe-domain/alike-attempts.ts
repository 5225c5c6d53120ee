import { conditionOnItem, type Expression, resolve } from '#kernel/conditions/expression.ts';
import { childrenOf, type Question } from '#kernel/conditions/fold.ts';
import { compare } from '#kernel/conditions/holds.ts';
import { rightsOf } from '#kernel/conditions/rights.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { Attempt } from './attempts.ts';
import { mayEver } from './declared.ts';
import { itemsIn } from './forms.ts';
import type { Found, Situation } from './situations.ts';
import type { Actor } from './stage.ts';

type Trying = {
  readonly domain: Domain;
  readonly found: Found;
  readonly situation: Situation;
  readonly actor: Actor;
};

/**
 * Equal for attempts of an actor whose result must be the same: every comparison in a right to the kind, in the
 * condition of the command and in the invariants has the same result, and the command would change as much.
 * Undefined for attempts that depend on more.
 */
export const likenessOf = (
  { domain, found, situation, actor }: Trying,
  { name, method, kind, command, does }: Attempt,
): string | undefined => {
  const attempt = [name, method, actor.key];
  // Such a refusal reads no state.
  if (!mayEver(domain, kind, command.name, actor.role)) return JSON.stringify(attempt);
  if (does !== 'command' || command.decide !== undefined) return undefined;
  const { fields } = situation.state;
  const callerId = found.persons.find(({ key }) => key === actor.key)?.id ?? null;
  const comparing: Comparing = { callerId, find: (id) => rowOf(found, situation, id) };
  const facts = conditionsFor(domain, kind, command.when).flatMap((each) =>
    resultsOf(comparing, each, fields),
  );
  const changes = command.events.flatMap(({ sets }) =>
    Object.entries(sets).map(([field, value]) =>
      value === 'caller' ? fields[field] === callerId : (fields[field] ?? null) === value,
    ),
  );
  const { list } = command;
  const item = list && itemsIn(fields, list)[0];
  const ofItem = [
    ...(item === undefined ? [] : resultsOf(comparing, conditionOnItem(domain, kind, command), item)),
    ...command.events.flatMap((event) =>
      Object.entries(event.item?.sets ?? {}).map(([field, value]) => (item?.[field] ?? null) === value),
    ),
  ];
  return JSON.stringify([attempt, facts, changes, itemsFor(fields, list), ofItem]);
};

const conditionsFor = (domain: Domain, kind: Kind, when: unknown): readonly Expression[] => [
  ...[...rightsOf(domain).values()].flatMap((right) =>
    right.kind?.name === kind.name ? right.alternatives : [],
  ),
  ...[when, ...Object.values(kind.invariants)].flatMap((condition) =>
    condition === undefined ? [] : [resolve(domain, kind, condition)],
  ),
];

/** Its parent may have moved to another state since. */
const rowOf = ({ byId, persons }: Found, { kind, state, later }: Situation, id: number): Row | undefined => {
  const person = persons.find((each) => each.id === id);
  if (person !== undefined) return { id, role: person.role };
  const moved = later.at(-1)?.events.at(-1)?.after;
  if (moved?.status === 'present' && id === state.fields[kind.parent ?? '']) return moved.fields;
  return byId.get(id)?.state.fields;
};

type Comparing = {
  readonly callerId: number | null;
  readonly find: (id: number) => Row | undefined;
};

/** Of each comparison in a condition. */
const resultsOf = (comparing: Comparing, expression: Expression, row: Row | undefined): readonly unknown[] =>
  childrenOf(expression).flatMap((asked) =>
    asked.op === 'at'
      ? resultsOf(comparing, asked.of, comparing.find(Number(row?.[asked.field])))
      : [resultOf(comparing, asked, row && valueIn(row, asked))],
  );

const resultOf = ({ callerId }: Comparing, asked: Question, value: unknown): unknown => {
  switch (asked.op) {
    case 'is':
      return value === undefined ? undefined : value === asked.value;
    case 'caller':
      return value === undefined ? undefined : value === callerId;
    case 'min':
      return isOrdered(asked.than, value);
    case 'max':
      return isOrdered(value, asked.than);
    // With the items themselves, and the attributes of users.
    default:
      return value;
  }
};

const valueIn = (row: Row, { field }: { readonly field: string }): unknown => row[field] ?? null;
const isOrdered = (low: unknown, high: unknown): boolean | null =>
  low == null || high == null ? null : compare(low, high as number | string) <= 0;

/** How full the list is, as far as situations differ in it, and which part its first item is in. */
const itemsFor = (fields: Row, list: Attempt['command']['list']): unknown => {
  if (list === undefined) return null;
  const items = itemsIn(fields, list);
  return [Math.min(items.length, 2), list.settled.map((name) => items[0]?.[name] ?? null)];
};
