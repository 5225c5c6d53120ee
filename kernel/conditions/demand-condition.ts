import { StartRefused } from '#shared/process/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Defs, Kind, ListInfo, Row } from '../registry/registry.ts';

/** Refuses conditions with words that would have no effect: the condition would be wider than it reads. */

/** A field that a condition asks for; `place` is the aggregate, or the list with the items. */
export type AskedField = { readonly place: string; readonly field: string; readonly def: FieldDef };
type Comparison = { readonly not?: unknown; readonly min?: number | string; readonly max?: number | string };

const COMPARISONS = ['not', 'min', 'max'];
/** Their values have an order, which is the same in memory and in SQL. */
const ORDERED: ReadonlySet<FieldDef['kind']> = new Set(['integer', 'instant', 'date', 'text']);

export function demandCondition(place: string, condition: unknown): asserts condition is Row {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition))
    throw new StartRefused(
      `${place}: a condition is ${shown(condition)}: use the name of a fact, an object with fields and facts, or a list of these.`,
    );
}

/** A name that is neither a field nor a list stands for a fact, which holds or does not. */
export function demandFlag(kind: Kind, name: string, value: unknown): asserts value is boolean {
  const isFact = Object.hasOwn(kind.facts, name) || name === 'own' || name === 'caller';
  if (isFact && typeof value !== 'boolean')
    throw new StartRefused(
      `${kind.name}: a condition has the fact ${name} with ${shown(value)}: use true or false.`,
    );
  if (isFact) return;
  const known = [...Object.keys(kind.fields), ...Object.keys(kind.lists), ...Object.keys(kind.facts)];
  throw new StartRefused(
    `${kind.name}: a condition uses ${name}, which is not one of its fields, lists and facts: use one of ${known.join(', ')}.`,
  );
}

export const demandField = (place: string, fields: Defs, field: string): FieldDef => {
  const def = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (def !== undefined) return def;
  throw new StartRefused(
    `${place}: a condition uses ${field}, which is not one of its fields: use one of ${Object.keys(fields).join(', ')}.`,
  );
};

/** The condition on one item of a list. */
export const someOf = (place: string, { name }: ListInfo, value: unknown): unknown => {
  const words = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const strange = words.find((word) => word !== 'some');
  if (words.length === 1 && strange === undefined) return (value as Row).some;
  throw new StartRefused(
    `${place}: a condition on the list ${name} has ${strange ?? shown(value)}: use only \`some\`, with a condition on one of its items.`,
  );
};

/** Refuses words beside the one that decides the condition. */
export const demandAlone = ({ place, field }: AskedField, value: Row, word: string): void => {
  const surplus = Object.keys(value).find((each) => each !== word);
  if (surplus !== undefined)
    throw new StartRefused(
      `${place}: a condition on ${field} has ${surplus} beside \`${word}\`, which would have no effect: use a condition of its own for it.`,
    );
};

export const demandComparison = (asked: AskedField, value: Row): Comparison => {
  const { place, field, def } = asked;
  const words = Object.keys(value);
  const strange = words.find((word) => !COMPARISONS.includes(word));
  if (strange !== undefined || words.length === 0)
    throw new StartRefused(
      `${place}: a condition on ${field} has ${strange ?? 'no words'}: use a value, or \`not\`, \`min\` and \`max\`.`,
    );
  const missing = words.find((word) => value[word] === undefined);
  if (missing !== undefined)
    throw new StartRefused(
      `${place}: a condition on ${field} has \`${missing}\` without a value: give it one, or remove it.`,
    );
  for (const bound of words.filter((word) => word !== 'not')) {
    if (!ORDERED.has(def.kind) || value[bound] === null)
      throw new StartRefused(
        `${place}: a condition on ${field} has \`${bound}\`, but a field of the type ${def.kind} has no order, and null has none: use values.`,
      );
    demandValue(asked, value[bound]);
  }
  return value;
};

const TYPES: Partial<Readonly<Record<FieldDef['kind'], 'number' | 'string' | 'boolean'>>> = {
  integer: 'number',
  ref: 'number',
  boolean: 'boolean',
  text: 'string',
  choice: 'string',
  states: 'string',
  instant: 'string',
  date: 'string',
  upload: 'string',
};

/** The value can be that of the field. */
export const demandValue = (
  { place, field, def }: AskedField,
  value: unknown,
): string | number | boolean | null => {
  if (value === null) return null;
  const type = TYPES[def.kind];
  if (type === undefined || typeof value !== type)
    throw new StartRefused(
      `${place}: a condition compares ${field} with ${shown(value)}, which ${type === undefined ? `no field of the type ${def.kind} equals: use other fields` : `is not a ${type}: use a ${type}`}.`,
    );
  if (def.values !== undefined && !def.values.includes(value as string))
    throw new StartRefused(
      `${place}: a condition compares ${field} with ${shown(value)}, which it never is: use one of ${def.values.join(', ')}.`,
    );
  return value as string | number | boolean;
};

const shown = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value);
