import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain } from '../registry/registry.ts';

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
  const isAlike =
    own.column === def.column &&
    (own.kind === 'ref') === (def.kind === 'ref') &&
    targetIn(own) === targetIn(def);
  if (!isAlike)
    throw new StartRefused(`${compares}, which is never equal to it: compare fields of the same type.`);
};

const targetIn = (def: FieldDef): string | undefined => (def.kind === 'ref' ? targetOf(def) : undefined);
