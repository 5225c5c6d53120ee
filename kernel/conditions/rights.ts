import { StartRefused } from '#shared/process/start-refused.ts';
import { webhookOf } from '../declare/webhook.ts';
import { snake, targetOf } from '../registry/names.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import { always, and, at, type Expression, never, resolve } from './expression.ts';
import { isOfParts } from './parts-of.ts';

/** Who may do something with an aggregate, resolved: the row of the policy. */
export type Right = {
  readonly operation: string;
  /** What a token must have for it, beyond what is public. */
  readonly scope: string;
  /** Without one, it is of the kernel and asks at most for the owner. */
  readonly kind: Kind | undefined;
  /**
   * The conditions under which some role has it, each for itself; the same condition is the same object for
   * all roles.
   */
  readonly alternatives: readonly Expression[];
  /** By role; a role that is not here has no right. */
  readonly byRole: ReadonlyMap<string, Reach>;
};
/**
 * How far the right of a role goes: under any of the conditions, of which `always` is the only one if it is
 * there.
 */
export type Reach = ReadonlySet<Expression>;

export const NOTHING: Reach = new Set();
export const EVERYTHING: Reach = new Set([always]);

/** The rights of a domain by the names of their operations, each aggregate's in a row, reading first. */
export type Rights = ReadonlyMap<string, Right>;

const compiled = new WeakMap<Domain, Rights>();
export const rightsOf = (domain: Domain): Rights => {
  const rights = compiled.get(domain) ?? resolveAll(domain);
  compiled.set(domain, rights);
  return rights;
};

/** As `article.publish` and `user.read_private`. */
export const operationOf = (kind: Kind, name: string): `${string}.${string}` => `${kind.name}.${snake(name)}`;

const resolveAll = (domain: Domain): Rights => {
  const rights = new Map<string, Right>();
  for (const kind of [
    ...Object.values(domain.kinds),
    ...domain.views.map(({ asked }) => asked),
    webhookOf(domain),
  ])
    for (const name of kind.isManaged
      ? ['manage']
      : new Set(['read', ...Object.keys(kind.fieldRights), ...commandsOf(kind)])) {
      const byRole = domain.roles.map((role) => [role, rightOf(domain, kind, name, role)] as const);
      const operation = operationOf(kind, name);
      rights.set(operation, { operation, scope: scopeOf(kind, name), kind, ...apart(byRole) });
    }
  return rights;
};

const commandsOf = ({ commands }: Kind): readonly string[] =>
  Object.values(commands).flatMap(({ name, internal }) => (internal ? [] : [name]));

/** Takes the conditions of each role apart, so that each is granted for itself. */
export const apart = (
  byRole: readonly (readonly [string, Expression])[],
): Pick<Right, 'alternatives' | 'byRole'> => {
  const known = new Map<string, Expression>();
  const interned = (expression: Expression): Expression => {
    if (expression.op === 'const') return expression.value ? always : never;
    const key = JSON.stringify(expression);
    const first = known.get(key) ?? expression;
    known.set(key, first);
    return first;
  };
  const reaches = byRole.map(([role, expression]) => {
    const parts = (expression.op === 'or' ? expression.of : [expression]).map(interned);
    return [role, new Set(parts.filter((each) => each !== never))] as const;
  });
  return { byRole: new Map(reaches), alternatives: [...known.values()] };
};

/** The row for an operation: of its own, or the one of all commands that have none. */
const rowOf = (kind: Kind, name: string): Row =>
  kind.rights[name] ?? kind.fieldRights[name] ?? (name === 'read' ? {} : (kind.rights.write ?? {}));

/**
 * What somebody with this role must find true of an aggregate; of what it has `as` another, that must be
 * found true. Nobody reads a part of what they may not read.
 */
export const rightOf = (domain: Domain, kind: Kind, name: string, role: string): Expression => {
  const own = rightAlong(domain, [kind], name, role);
  return isOfParts(kind, name) ? and(rightAlong(domain, [kind], 'read', role), own) : own;
};

/** Of the first, as of which the others are. */
const rightAlong = (
  domain: Domain,
  kinds: readonly [Kind, ...Kind[]],
  name: string,
  role: string,
): Expression => {
  const [kind, ...before] = kinds;
  const row = rowOf(kind, name);
  if (typeof row.as !== 'string') return resolve(domain, kind, cellOf(row, role));
  if (row.anyone !== undefined)
    throw new StartRefused(
      `${kind.name}: the right ${name} has a cell for anyone, which leaves nothing to \`as\`: take one of them away.`,
    );
  if (before.includes(kind))
    throw new StartRefused(
      `${kind.name}: the right ${name} is as that of ${row.as}, which leads back to itself: say there whose right it is.`,
    );
  const own = row[role] ?? (role === 'anonymous' || role === 'admin' ? undefined : row.signedIn);
  if (own !== undefined) return resolve(domain, kind, own);
  const def = kind.fields[row.as];
  const target = def && domain.kinds[targetOf(def)];
  if (!target) return never;
  const there = rightAlong(domain, [target, ...kinds], name === 'read' ? 'read' : 'write', role);
  // Whoever may do it with all of those may do it with all of these.
  return there === always ? always : at(row.as, target.name, there);
};

/** Whether everybody may read it who may read what a reference leads to, and nobody else. */
export const isReadAs = ({ rights: { read = {} } }: Kind, reference: string): boolean =>
  read.as === reference && Object.keys(read).every((key) => key === 'as' || key === 'scope');

/** Whoever is not named has what all have; administrators may unless it is said. */
export const cellOf = (row: Row, role: string): unknown => {
  if (row[role] !== undefined) return row[role];
  if (role === 'admin') return true;
  return (role === 'anonymous' ? row.anyone : (row.signedIn ?? row.anyone)) ?? false;
};

const scopeOf = (kind: Kind, name: string): string => {
  const { scope } = rowOf(kind, name);
  const isReading = name === 'read' || isOfParts(kind, name);
  return `${typeof scope === 'string' ? scope : isReading ? 'read' : 'write'}:${kind.path}`;
};

/** Whether a right depends on nothing but the id, so that it can be asked of what was never there as well. */
export const isOfId = (domain: Domain, kind: Kind, name: string): boolean =>
  (rightsOf(domain).get(operationOf(kind, name))?.alternatives ?? []).every(
    (each) => each.op === 'const' || (each.op === 'caller' && each.field === 'id'),
  );
