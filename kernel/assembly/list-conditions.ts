import { conditionsIn, WITHOUT_CALLER } from '../conditions/declared.ts';
import { conditionOnItem, type Expression, fieldsOfItem, resolve } from '../conditions/expression.ts';
import { childrenOf, kindAfter, type Question, questionsIn } from '../conditions/fold.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '../registry/registry.ts';

/**
 * Refuses conditions on items that cannot be evaluated: rights and guards see the items alone, and timers see
 * the aggregate alone.
 */
export const wrongConditionsOnItems = (domain: Domain): readonly string[] => [
  ...[...rightsOf(domain).values()].flatMap(({ kind, alternatives }) =>
    kind === undefined ? [] : alternatives.flatMap((each) => wrongItemsIn(domain, kind, each)),
  ),
  ...Object.values(domain.kinds).flatMap((kind) => [
    ...resolved(domain, kind, conditionsIn(kind, SEEING_ITEMS)).flatMap((each) =>
      wrongItemsIn(domain, kind, each),
    ),
    ...Object.values(kind.commands).flatMap((command) => wrongOnItem(domain, kind, command)),
    ...resolved(domain, kind, conditionsIn(kind, WITHOUT_CALLER)).flatMap((each) =>
      listsAskedIn(each).map(
        (list) =>
          `${kind.name}: a timer or a reaction has a condition on the ${list}, but these conditions cannot use lists: use a number that is derived from the list.`,
      ),
    ),
  ]),
];

const SEEING_ITEMS = ['facts', 'limits', 'invariants', 'commands'] as const;

/** A condition of a command on its item. */
const wrongOnItem = (domain: Domain, kind: Kind, command: CommandInfo): readonly string[] => {
  const { name, list, whenItem, kind: does } = command;
  if (whenItem === undefined) return [];
  if (list === undefined || does === 'addItem')
    return [
      `${kind.name}: the command ${name} has \`whenItem\`, but changes no item that is there: use \`when\`.`,
    ];
  return childrenOf(conditionOnItem(domain, kind, command)).flatMap((asked) =>
    wrongAsked(list, asked, kind.name),
  );
};

const resolved = (domain: Domain, kind: Kind, conditions: readonly unknown[]): readonly Expression[] =>
  conditions.map((each) => resolve(domain, kind, each));

const wrongItemsIn = (domain: Domain, kind: Kind, expression: Expression): readonly string[] =>
  questionsIn(expression).flatMap(({ asked, way }) => {
    const list = asked.op === 'some' ? kindAfter(domain, kind, way)?.lists[asked.field] : undefined;
    if (asked.op !== 'some' || list === undefined) return [];
    const place = [kind.name, ...way.map(({ field }) => `of its ${field}`)].join(': ');
    return childrenOf(asked.of).flatMap((each) => wrongAsked(list, each, place));
  });

const wrongAsked = (list: ListInfo, { op, field }: Question, place: string): readonly string[] => {
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

const listsAskedIn = (expression: Expression): readonly string[] =>
  questionsIn(expression).flatMap(({ asked, way }) =>
    asked.op === 'some' ? [[...way, asked].map(({ field }) => field).join('.')] : [],
  );
