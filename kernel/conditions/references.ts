import { targetOf } from '../base/names.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { staysWhenEnded } from '../registry/stays-when-ended.ts';
import { isReadAs, rightOf } from './rights.ts';

/** Says why a reference, or the label of its target, may be null. */
export const ABSENT_TARGET = 'Null if the target has ended or is parked, or if you may not read it.';

/** A reference of an aggregate, of an item of a list, or of a row of a view. */
type Reference = { readonly name: string; readonly def: FieldDef };

/**
 * True if every reader of an aggregate may read the target of its reference; otherwise it is null for some.
 */
export const isReadableWith = (domain: Domain, kind: Kind, reference: Reference): boolean =>
  isReadAs(kind, reference.name) || isReadableWithItems(domain, kind, reference);

/** The same for a reference in the items of a list. */
export const isReadableWithItems = (domain: Domain, kind: Kind, { def }: Pick<Reference, 'def'>): boolean => {
  const target = targetIn(domain, def);
  const isConst = (of: Kind, role: string, value: boolean): boolean => {
    const right = rightOf(domain, of, 'read', role);
    return right.op === 'const' && right.value === value;
  };
  return (
    target !== undefined &&
    domain.roles.every((role) => isConst(target, role, true) || isConst(kind, role, false))
  );
};

/**
 * True if the target of a reference is shown to every reader of the aggregate. Any other target may have
 * ended, or some readers may not read it: both look the same. Nobody reads an aggregate without its parent,
 * and its owner, who existed at its creation, stays as a name.
 */
export const isAlwaysShown = (domain: Domain, kind: Kind, reference: Reference): boolean => {
  const target = targetIn(domain, reference.def);
  if (target === undefined) return false;
  if (reference.name === kind.parent) return isReadableWith(domain, kind, reference);
  // A token without the scope has the rights of callers who are not signed in.
  return reference.name === kind.owner && staysWhenEnded(target) && isReadByAll(domain, target);
};

const isReadByAll = (domain: Domain, kind: Kind): boolean =>
  domain.roles.every((role) => {
    const right = rightOf(domain, kind, 'read', role);
    return right.op === 'const' && right.value;
  });

const targetIn = (domain: Domain, def: FieldDef): Kind | undefined =>
  def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
