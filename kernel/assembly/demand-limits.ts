import type { Expression } from '../conditions/expression.ts';
import { childrenOf, fieldsIn } from '../conditions/fold.ts';
import { countingOf } from '../decide/limits.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** When all places are taken, their holders are checked one by one. */
const PLACES_MAX = 100;

/** Refuses limits that cannot be enforced, and fields that are unique by mistake. */
export const demandLimits = eachKind(wrongUnique, wrongLimits);

function* wrongLimits(kind: Kind, domain: Domain): Sentences {
  for (const limit of kind.limits) {
    const place = `the limit ${limit.name}`;
    if (!Number.isInteger(limit.max) || limit.max < 1 || limit.max > PLACES_MAX)
      yield `${place} has the maximum ${limit.max}: use a whole number from 1 to ${PLACES_MAX}.`;
    const wrong = limit.per.find((name) => !COUNTED.has(kindOfField(kind, name) ?? ''));
    if (wrong !== undefined)
      yield `${place} is per ${wrong}, which has a type that limits cannot use: use a text, a number, a flag, a choice, an instant, a date or a reference.`;
    const counting = countingOf(domain, kind, limit);
    const asked = limit.when === undefined ? undefined : strangeIn(kind, counting);
    if (asked !== undefined)
      yield `${place} depends on ${asked}, which can change without the ${kind.name}: use only its own fields.`;
    if (counting.op === 'const' && !counting.value)
      yield `${place} counts nothing, because its \`when\` is never true: remove the limit, or use another fact.`;
  }
}

const COUNTED: ReadonlySet<string> = new Set([
  'text',
  'integer',
  'boolean',
  'choice',
  'states',
  'instant',
  'date',
  'ref',
]);
const UNIQUE: ReadonlySet<string> = new Set(['text', 'integer', 'instant', 'date', 'ref']);

/** Undefined for numbers derived from items. */
const kindOfField = ({ fields, derived }: Kind, name: string): FieldDef['kind'] | undefined =>
  derived.some((each) => each.name === name) ? undefined : fields[name]?.kind;

/** Returns the part of a condition that depends on more than the fields of one aggregate. */
const strangeIn = (kind: Kind, expression: Expression): string | undefined =>
  childrenOf(expression)
    .map((asked) => {
      switch (asked.op) {
        case 'at':
          return `the target of ${asked.field}`;
        case 'caller':
        case 'callers':
          return 'the caller';
        case 'some':
          return `the items of ${asked.field}`;
        default: {
          const fields = fieldsIn(asked);
          const derived = kind.derived.find(({ name }) => fields.includes(name));
          return derived && `the derived number ${derived.name}`;
        }
      }
    })
    .find((each) => each !== undefined);

function* wrongUnique(kind: Kind): Sentences {
  for (const [name, { unique, initial }] of Object.entries(kind.fields)) {
    if (!unique) continue;
    if (!UNIQUE.has(kindOfField(kind, name) ?? ''))
      yield `${name} is unique(), but not a text, a number, an instant, a date or a reference: declare a limit per ${name} instead.`;
    if (initial !== undefined)
      yield `${name} is unique() and has a default, which only one ${kind.name} could have: remove one of them.`;
    const setting = Object.values(kind.events).find(({ sets }) => isConstant(sets[name]));
    if (setting !== undefined)
      yield `${name} is unique(), and the event ${setting.name} sets it to a constant, which only one ${kind.name} could have: remove one of them.`;
  }
}

const isConstant = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== 'now' && value !== 'caller';
