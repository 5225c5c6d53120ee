import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { type AskedField, ORDERED } from './demand-condition.ts';

const COMPARED: ReadonlySet<string> = new Set(['text', 'choice', 'states', 'integer', 'boolean', 'ref']);

/** Of the attributes that every token of a user contains. */
export const ATTRIBUTE_LENGTH_MAX = 200;

type Compared = { readonly field: string; readonly def: FieldDef; readonly attribute: string };

/** Refuses to compare a field with a caller’s field that can never equal it, or that is secret. */
export const demandComparable = (
  domain: Domain,
  place: string,
  { field, def, attribute }: Compared,
): void => {
  const fields = domain.kinds.user?.fields ?? {};
  const own = fields[attribute];
  const compares = `${place}: a condition compares ${field} with the caller’s ${attribute}`;
  const isUsable = (each: FieldDef): boolean => each.personal === undefined && COMPARED.has(each.kind);
  if (own === undefined) {
    const names = Object.keys(fields).filter((name) => isUsable(fields[name] as FieldDef));
    throw new StartRefused(
      `${compares}, which users do not have: use one of ${names.join(', ')}, or add it to the fields of users.`,
    );
  }
  if (own.personal !== undefined)
    throw new StartRefused(
      `${compares}, which is personal, so only the user’s own stream may contain it: compare another field.`,
    );
  for (const each of [own, def])
    if (!COMPARED.has(each.kind))
      throw new StartRefused(
        `${compares}, but a field of the type ${each.kind} cannot be compared: compare texts, choices, numbers, flags or references.`,
      );
  if (own.kind === 'text' && own.recorded.safeParse('a'.repeat(ATTRIBUTE_LENGTH_MAX + 1)).success)
    throw new StartRefused(
      `${compares}, which may be longer than ${ATTRIBUTE_LENGTH_MAX} characters: lower its maximum.`,
    );
  if (!areAlike(own, def))
    throw new StartRefused(`${compares}, which is never equal to it: compare fields of the same type.`);
};

const areAlike = (one: FieldDef, other: FieldDef): boolean =>
  one.column === other.column &&
  (one.kind === 'ref') === (other.kind === 'ref') &&
  targetIn(one) === targetIn(other);

const targetIn = (def: FieldDef): string | undefined => (def.kind === 'ref' ? targetOf(def) : undefined);

type Comparing = {
  readonly asked: AskedField;
  /** The aggregate that has the condition. */
  readonly subject: Kind;
  /** The list, if its items are asked. */
  readonly list: string | undefined;
};

/** Refuses to compare with a field that can never be equal, or that has no order. */
export function demandBeside(
  { asked: { place, field, def }, subject, list }: Comparing,
  by: 'is' | 'min' | 'max',
  other: unknown,
): asserts other is string {
  const own =
    typeof other === 'string' && Object.hasOwn(subject.fields, other) ? subject.fields[other] : undefined;
  if (own === undefined)
    throw new StartRefused(
      `${place}: a condition compares ${field} with the field ${String(other)}, which ${subject.name} does not have: use one of ${Object.keys(subject.fields).join(', ')}.`,
    );
  const compares = `${place}: a condition compares ${field} with ${String(other)}`;
  if (list !== undefined)
    throw new StartRefused(
      `${compares} of the ${subject.name}, but conditions on items cannot use its fields: use values, or fields of the caller.`,
    );
  if (by !== 'is' && !ORDERED.has(def.kind))
    throw new StartRefused(`${compares} by their order, but a field of the type ${def.kind} has none.`);
  if (!EQUAL.has(def.kind))
    throw new StartRefused(
      `${compares}, but a field of the type ${def.kind} cannot be compared: compare texts, choices, numbers, flags, times, days or references.`,
    );
  if (!areAlike(own, def) || !EQUAL.has(own.kind))
    throw new StartRefused(`${compares}, which has another type: compare fields of the same type.`);
}

const EQUAL: ReadonlySet<string> = new Set([...COMPARED, 'instant', 'date']);
