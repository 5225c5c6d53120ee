import { AUDITOR_UNTIL } from '../base/auditor.ts';
import { column, spaced, wire } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain } from '../registry/registry.ts';
import { conditionsIn, WITHOUT_CALLER } from './declared.ts';
import { conditionOnItem, type Expression, resolve } from './expression.ts';
import { questionsIn } from './fold.ts';
import { rightsOf } from './rights.ts';

/** A field of the caller that conditions compare with fields of the requested aggregate. */
export type Attribute = {
  readonly name: string;
  readonly def: FieldDef;
  readonly column: string;
  readonly wire: string;
};

/** In a fixed order; empty if no condition asks for attributes. The access of auditors ends by one. */
export const attributesOf = oncePer((domain: Domain): readonly Attribute[] => findAttributes(domain));

/** Throws if no condition compares this attribute. */
export const attributeOf = (domain: Domain, name: string): Attribute => {
  const attribute = attributesOf(domain).find((each) => each.name === name);
  if (attribute === undefined) throw new RangeError(`No condition compares the caller’s ${name}`);
  return attribute;
};

const findAttributes = (domain: Domain): readonly Attribute[] => {
  const fields = domain.kinds.user?.fields ?? {};
  const rights = [...rightsOf(domain).values()].flatMap(({ alternatives }) => alternatives);
  const guards = Object.values(domain.kinds).flatMap((kind) => [
    ...conditionsIn(kind, ['commands', 'invariants']).map((each) => resolve(domain, kind, each)),
    ...Object.values(kind.commands).map((command) => conditionOnItem(domain, kind, command)),
  ]);
  const compared = [...rights, ...guards].flatMap(attributesIn);
  const all = new Set(domain.auditors === true ? [...compared, AUDITOR_UNTIL] : compared);
  return [...all].toSorted().flatMap((name) => {
    const def = fields[name];
    return def === undefined ? [] : [{ name, def, column: column(name, def), wire: wire(name, def) }];
  });
};

/** The names of the caller’s fields that a condition compares. */
export const attributesIn = (expression: Expression): readonly string[] =>
  questionsIn(expression).flatMap(({ asked }) => (asked.op === 'callers' ? [asked.attribute] : []));

/** Refuses attributes that every user can set for themselves, and attributes that users do not have. */
export const demandAttributes = (domain: Domain): void => {
  const { fieldRights = {} } = domain.kinds.user ?? {};
  const guarded = new Set(
    Object.values(fieldRights).flatMap(({ writes = [] }) => writes as readonly string[]),
  );
  const free = attributesOf(domain).find(({ name }) => !guarded.has(name));
  if (free !== undefined)
    throw new StartRefused(
      `user: rights compare the caller’s ${free.name}, which all users can change for themselves: declare who may change it, with a right in \`fieldRights\` that \`writes\` it.`,
    );
  for (const kind of Object.values(domain.kinds)) {
    const asked = conditionsIn(kind, WITHOUT_CALLER).flatMap((condition) =>
      attributesIn(resolve(domain, kind, condition)),
    )[0];
    if (asked !== undefined)
      throw new StartRefused(
        `${kind.name}: a timer or a reaction has a condition on the caller’s ${asked}, but timers and reactions have no caller: use fields of the ${spaced(kind.name)}.`,
      );
  }
};
