import { instant } from '../base/instant.ts';
import { StartRefused } from '../base/start-refused.ts';
import { day } from '../base/values.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Defs, Kind, ListInfo, Row } from '../registry/registry.ts';

/** Refuses conditions with words that would have no effect: the condition would be wider than it reads. */

/** A field that a condition asks for; `place` is the aggregate, or the list with the items. */
export type AskedField = { readonly place: string; readonly field: string; readonly def: FieldDef };
/** A value, or the name of another field in place of one. */
export type Bound = number | string | { readonly field: unknown };
type Comparison = { readonly not?: unknown; readonly min?: Bound; readonly max?: Bound };

const COMPARISONS = ['not', 'min', 'max'];
/** Their values have an order, which is the same in memory and in SQL. */
export const ORDERED: ReadonlySet<FieldDef['kind']> = new Set(['integer', 'instant', 'date', 'text']);

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
      `${place}: a condition on ${field} has ${strange ?? 'no words'}: use a value, or \`not\`, \`min\` and \`max\`, or \`field\`.`,
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
  }
  const bound = (word: 'min' | 'max') =>
    value[word] === undefined ? {} : { [word]: boundOf(asked, value[word]) };
  return { not: value.not, ...bound('min'), ...bound('max') };
};

/** A bound need not be a value of the field, but it must have the same order in memory and in SQL. */
const boundOf = (asked: AskedField, value: unknown): Bound => {
  const { place, field, def } = asked;
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, 'field')) {
    demandAlone(asked, value as Row, 'field');
    return { field: (value as Row).field };
  }
  demandType(asked, value);
  if (def.kind === 'instant' || def.kind === 'date') return demandValue(asked, value) as string;
  const isUsable = typeof value === 'number' ? Number.isSafeInteger(value) : isStorable(String(value));
  if (isUsable) return value as number | string;
  throw new StartRefused(
    `${place}: a condition compares ${field} with ${shown(value)}, which the database cannot compare: use ${typeof value === 'number' ? 'a whole number' : 'a text of whole characters'}.`,
  );
};

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

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

/** The value, if the field can have it, in the form in which the field has it. */
export const demandValue = (asked: AskedField, value: unknown): string | number | boolean | null => {
  const { place, field, def } = asked;
  if (value === null) return null;
  demandType(asked, value);
  if (def.values !== undefined && !def.values.includes(value as string))
    throw new StartRefused(
      `${place}: a condition compares ${field} with ${shown(value)}, which it never is: use one of ${def.values.join(', ')}.`,
    );
  const formed = def.kind === 'instant' ? instantOf(value as string) : value;
  const isValue =
    def.recorded.safeParse(formed).success && (typeof formed !== 'string' || isStorable(formed));
  if (isValue) return formed as string | number | boolean;
  throw new StartRefused(
    `${place}: a condition compares ${field} with ${shown(value)}, which it never is: ${FORMS[def.kind] ?? 'use a value that the field can have'}.`,
  );
};

const FORMS: Partial<Readonly<Record<FieldDef['kind'], string>>> = {
  instant: 'use a time with at most milliseconds, as 2026-01-31T12:00:00.000Z, or a day, as 2026-01-31',
  date: 'use a day, as 2026-01-31',
};

/** A day begins at midnight in UTC. Events have milliseconds: with more, no spelling would be equal. */
const instantOf = (text: string): string | undefined => {
  const time = day.safeParse(text).success ? `${text}T00:00:00.000Z` : text;
  const isTime = instant.safeParse(time).success && !FINER.test(time);
  if (!isTime || time.startsWith('0000')) return undefined;
  return new Date(time.toUpperCase()).toISOString();
};
const FINER = /\.\d{3}\d*[1-9]/;

const demandType = ({ place, field, def }: AskedField, value: unknown): void => {
  const type = TYPES[def.kind];
  if (type === undefined || typeof value !== type)
    throw new StartRefused(
      `${place}: a condition compares ${field} with ${shown(value)}, which ${type === undefined ? `no field of the type ${def.kind} equals: use other fields` : `is not a ${type}: use a ${type}`}.`,
    );
};

const shown = (value: unknown): string =>
  value === undefined ? 'missing' : (JSON.stringify(value) ?? typeof value);
