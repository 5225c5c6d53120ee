import { StartRefused } from '../base/start-refused.ts';
import type { Expression } from '../conditions/expression.ts';
import { childrenOf, fieldsIn } from '../conditions/fold.ts';
import { countingOf } from '../decide/limits.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind, LimitInfo } from '../registry/registry.ts';

/** When all places are taken, their holders are checked one by one. */
const PLACES_MAX = 100;

/** Refuses limits that cannot be enforced, and fields that are unique by mistake. */
export const demandLimits = (domain: Domain): void => {
  for (const kind of Object.values(domain.kinds)) {
    for (const [name, def] of Object.entries(kind.fields)) if (def.unique) demandUnique(kind, name, def);
    for (const limit of kind.limits) demandLimit(domain, kind, limit);
  }
};

const demandLimit = (domain: Domain, kind: Kind, limit: LimitInfo): void => {
  const place = `${kind.name}: the limit ${limit.name}`;
  if (!Number.isInteger(limit.max) || limit.max < 1 || limit.max > PLACES_MAX)
    throw new StartRefused(
      `${place} has the maximum ${limit.max}: use a whole number from 1 to ${PLACES_MAX}.`,
    );
  const wrong = limit.per.find((name) => !COUNTED.has(kindOfField(kind, name) ?? ''));
  if (wrong !== undefined)
    throw new StartRefused(
      `${place} is per ${wrong}, which has a type that limits cannot use: use a text, a number, a flag, a choice, an instant, a date or a reference.`,
    );
  const asked = limit.while === undefined ? undefined : strangeIn(kind, countingOf(domain, kind, limit));
  if (asked !== undefined)
    throw new StartRefused(
      `${place} depends on ${asked}, which can change without the ${kind.name}: use only its own fields.`,
    );
  const counting = countingOf(domain, kind, limit);
  if (counting.op === 'const' && !counting.value)
    throw new StartRefused(
      `${place} counts nothing, because its \`while\` is never true: remove the limit, or use another fact.`,
    );
};

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

const demandUnique = (kind: Kind, name: string, def: FieldDef): void => {
  const place = `${kind.name}: ${name} is unique()`;
  if (!UNIQUE.has(kindOfField(kind, name) ?? ''))
    throw new StartRefused(
      `${place}, but not a text, a number, an instant, a date or a reference: declare a limit per ${name} instead.`,
    );
  if (def.initial !== undefined)
    throw new StartRefused(
      `${place} and has a default, which only one ${kind.name} could have: remove one of them.`,
    );
  const setting = Object.values(kind.events).find(({ sets }) => isConstant(sets[name]));
  if (setting !== undefined)
    throw new StartRefused(
      `${place}, and the event ${setting.name} sets it to a constant, which only one ${kind.name} could have: remove one of them.`,
    );
};

const isConstant = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== 'now' && value !== 'caller';
