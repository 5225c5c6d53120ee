import { type Expression, fieldsOfItem, resolve } from '../conditions/expression.ts';
import { asksIn } from '../conditions/lists.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { Domain, Kind, ListInfo } from '../registry/registry.ts';

/**
 * Refuses conditions on items that cannot be evaluated: rights and guards see the items alone, and timers see
 * the aggregate alone.
 */
export const wrongConditionsOnItems = (domain: Domain): readonly string[] => [
  ...[...rightsOf(domain).values()].flatMap(({ kind, alternatives }) =>
    kind === undefined
      ? []
      : alternatives.flatMap((each) => wrongItemsIn(domain, kind, { expression: each, place: kind.name })),
  ),
  ...Object.values(domain.kinds).flatMap((kind) => [
    ...resolved(domain, kind, guardsOf(kind)).flatMap((each) =>
      wrongItemsIn(domain, kind, { expression: each, place: kind.name }),
    ),
    ...resolved(domain, kind, waitingOf(kind)).flatMap((each) =>
      listsAskedIn(each).map(
        (list) =>
          `${kind.name}: a timer or a reaction has a condition on the ${list}, but these conditions cannot use lists: use a number that is derived from the list.`,
      ),
    ),
  ]),
];

const resolved = (domain: Domain, kind: Kind, conditions: readonly unknown[]): readonly Expression[] =>
  conditions.flatMap((each) => (each === undefined ? [] : [resolve(domain, kind, each)]));

const guardsOf = ({ facts, commands, invariants, limits }: Kind): readonly unknown[] => [
  ...Object.values(facts),
  ...limits.map(({ while: during }) => during),
  ...Object.values(invariants),
  ...Object.values(commands).map(({ when }) => when),
];

const waitingOf = ({ timers, reactions }: Kind): readonly unknown[] => [
  ...Object.values(timers).flatMap(({ while: during, pause }) => [during, pause]),
  ...Object.values(reactions).flatMap((byEvent) => Object.values(byEvent).map(({ when }) => when)),
];

type Placed = { readonly expression: Expression; readonly place: string };

const wrongItemsIn = (domain: Domain, kind: Kind, { expression, place }: Placed): readonly string[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap((each) => wrongItemsIn(domain, kind, { expression: each, place }));
    case 'not':
      return wrongItemsIn(domain, kind, { expression: expression.of, place });
    case 'at': {
      const target = domain.kinds[expression.kind];
      return target === undefined
        ? []
        : wrongItemsIn(domain, target, {
            expression: expression.of,
            place: `${place}: of its ${expression.field}`,
          });
    }
    case 'some': {
      const list = kind.lists[expression.field];
      return list === undefined
        ? []
        : asksIn(expression.of).flatMap((asked) => wrongAsked(list, asked, place));
    }
    default:
      return [];
  }
};

const wrongAsked = (
  list: ListInfo,
  { op, field }: ReturnType<typeof asksIn>[number],
  place: string,
): readonly string[] => {
  const item = `${place}: a condition on the ${list.name} uses`;
  if (op === 'at')
    return [
      `${item} the target of ${field}, which is not read for items: use the caller, or fields of the item.`,
    ];
  return fieldsOfItem(list)[field]?.personal === undefined
    ? []
    : [
        `${item} ${field}, which is personal, so the visibility of events could not be decided: use another field.`,
      ];
};

const listsAskedIn = (expression: Expression): readonly string[] => {
  switch (expression.op) {
    case 'and':
    case 'or':
      return expression.of.flatMap(listsAskedIn);
    case 'not':
      return listsAskedIn(expression.of);
    case 'at':
      return listsAskedIn(expression.of).map((list) => `${expression.field}.${list}`);
    case 'some':
      return [expression.field];
    default:
      return [];
  }
};
