import { conditionsIn, WITHOUT_CALLER } from '../conditions/declared.ts';
import { conditionOnItem, type Expression, fieldsOfItem, resolve } from '../conditions/expression.ts';
import { childrenOf, kindAfter, type Question, questionsIn } from '../conditions/fold.ts';
import { rightsOf } from '../conditions/rights.ts';
import type { CommandInfo, Domain, Kind, ListInfo } from '../registry/registry.ts';
import type { Sentences } from './refusals.ts';

/**
 * Refuses conditions on items that cannot be evaluated: rights and guards see the items alone, and timers see
 * the aggregate alone.
 */
export function* demandItemConditions(domain: Domain): Sentences {
  for (const { kind, alternatives } of rightsOf(domain).values())
    for (const each of kind === undefined ? [] : alternatives)
      yield* wrongItemsIn(domain, kind as Kind, each);
  for (const kind of Object.values(domain.kinds)) {
    for (const each of resolved(domain, kind, conditionsIn(kind, SEEING_ITEMS)))
      yield* wrongItemsIn(domain, kind, each);
    for (const command of Object.values(kind.commands)) yield* wrongOnItem(domain, kind, command);
    for (const each of resolved(domain, kind, conditionsIn(kind, WITHOUT_CALLER)))
      for (const list of listsAskedIn(each))
        yield `${kind.name}: a timer or a reaction has a condition on the ${list}, but these conditions cannot use lists: use a number that is derived from the list.`;
  }
}

const SEEING_ITEMS = ['facts', 'limits', 'invariants', 'commands'] as const;

/** A condition of a command on its item. */
function* wrongOnItem(domain: Domain, kind: Kind, command: CommandInfo): Sentences {
  const { name, list, whenItem, kind: does } = command;
  if (whenItem === undefined) return;
  if (list === undefined || does === 'addItem')
    return yield `${kind.name}: the command ${name} has \`whenItem\`, but changes no item that is there: use \`when\`.`;
  for (const asked of childrenOf(conditionOnItem(domain, kind, command)))
    yield* wrongAsked(list, asked, kind.name);
}

const resolved = (domain: Domain, kind: Kind, conditions: readonly unknown[]): readonly Expression[] =>
  conditions.map((each) => resolve(domain, kind, each));

function* wrongItemsIn(domain: Domain, kind: Kind, expression: Expression): Sentences {
  for (const { asked, way } of questionsIn(expression)) {
    const list = asked.op === 'some' ? kindAfter(domain, kind, way)?.lists[asked.field] : undefined;
    if (asked.op !== 'some' || list === undefined) continue;
    const place = [kind.name, ...way.map(({ field }) => `of its ${field}`)].join(': ');
    for (const each of childrenOf(asked.of)) yield* wrongAsked(list, each, place);
  }
}

function* wrongAsked(list: ListInfo, { op, field }: Question, place: string): Sentences {
  const item = `${place}: a condition on the ${list.name} uses`;
  if (op === 'at')
    yield `${item} the target of ${field}, which is not read for items: use the caller, or fields of the item.`;
  else if (fieldsOfItem(list)[field]?.personal !== undefined)
    yield `${item} ${field}, which is personal, so the visibility of events could not be decided: use another field.`;
}

const listsAskedIn = (expression: Expression): readonly string[] =>
  questionsIn(expression).flatMap(({ asked, way }) =>
    asked.op === 'some' ? [[...way, asked].map(({ field }) => field).join('.')] : [],
  );
