// Over 200 lines, because it is one thing: the conditions of every right, those of requests included.

import { snake, targetOf } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { AgentRequests } from '../registry/confirms.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import { isAuditorRole } from '../registry/roles.ts';
import { managedKindsOf } from '../webhook/managed-kinds.ts';
import { always, and, at, type Expression, never, or, resolve } from './expression.ts';
import { guardOfField, isOfParts, partOfItems, partRightsOf } from './parts-of.ts';

/** The resolved policy for one operation on an aggregate. */
export type Right = {
  readonly operation: string;
  /** The scope that a token needs, beyond public access. */
  readonly scope: string;
  /** Undefined for operations of the kernel, which ask at most for the owner. */
  readonly kind: Kind | undefined;
  /**
   * The separate conditions under which some role has the right. Equal conditions are the same object for all
   * roles.
   */
  readonly alternatives: readonly Expression[];
  /** Conditions by role; a role that is missing has no right. */
  readonly byRole: ReadonlyMap<string, Reach>;
};
/**
 * The conditions that grant a role the right, any of which suffices. If `always` is among them, it is the
 * only one.
 */
export type Reach = ReadonlySet<Expression>;

export const NOTHING: Reach = new Set();
export const EVERYTHING: Reach = new Set([always]);

/** The rights of a domain by operation, grouped by aggregate, reading first. */
type Rights = ReadonlyMap<string, Right>;

export const rightsOf = oncePer((domain: Domain): Rights => resolveAll(domain));

/** For example `article.publish` and `user.read_private`. */
export const operationOf = (kind: Kind, name: string): `${string}.${string}` => `${kind.name}.${snake(name)}`;

const resolveAll = (domain: Domain): Rights => {
  const rights = new Map<string, Right>();
  for (const kind of [
    ...Object.values(domain.kinds),
    ...domain.views.map(({ asked }) => asked),
    ...managedKindsOf(domain),
  ])
    for (const name of kind.isManaged
      ? ['manage']
      : new Set(['read', ...Object.keys(kind.fieldRights), ...beside(kind), ...commandsOf(kind)])) {
      const byRole = domain.roles.map((role) => [role, rightOf(domain, kind, name, role)] as const);
      const operation = operationOf(kind, name);
      rights.set(operation, { operation, scope: scopeOf(kind, name), kind, ...apart(byRole) });
    }
  return rights;
};

/** The row of the right to create an aggregate for another owner. Without it, administrators alone may. */
export const FOR_OTHERS = 'forOthers';
/** The row of the right to read who has read an aggregate. Without it, administrators alone may. */
export const READERS = 'readers';
const beside = ({ rights, reads }: Kind): readonly string[] => [
  ...(rights[FOR_OTHERS] === undefined ? [] : [FOR_OTHERS]),
  ...(reads === undefined ? [] : [READERS]),
];

const commandsOf = ({ commands }: Kind): readonly string[] =>
  Object.values(commands).flatMap(({ name, internal }) => (internal ? [] : [name]));

/** Splits the conditions of each role, so that each can be granted separately. */
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

/** The declared row of an operation; commands without one share the row `write`. */
const rowOf = (kind: Kind, name: string): Row =>
  kind.rights[name] ??
  kind.fieldRights[name] ??
  (name === 'read' || name === READERS ? {} : (kind.rights.write ?? {}));

/**
 * The condition under which a role has a right to an aggregate, including the conditions of its `as` target.
 * A right to a part requires the right to read the whole.
 */
export const rightOf = (domain: Domain, kind: Kind, name: string, role: string): Expression => {
  if (isAuditorRole(domain, role)) return isToRead(kind, name) ? rightOf(domain, kind, name, 'admin') : never;
  if (kind.confirms !== undefined && name !== READERS)
    return rightToRequests(domain, { ...kind, confirms: kind.confirms }, name, role);
  const own = rightAlong(domain, [kind], name, role);
  return isOfParts(kind, name) ? alsoOf(rightAlong(domain, [kind], 'read', role), own) : own;
};

/**
 * A request of an agent is of those who have the right to its command on its aggregate, and may read all that its form
 * can contain. A creation has no aggregate yet, so it is of those who may always create one, and of its user. Its user
 * knows the form. Administrators read the requests about what they may read.
 */
const rightToRequests = (domain: Domain, kind: AgentRequests, name: string, role: string): Expression => {
  const own = role === 'anonymous' ? never : resolve(domain, kind, kind.rights[name]?.signedIn ?? false);
  const isReadByAdmin = name === 'read' && role === 'admin';
  const byCommand = kind.confirms.map(({ type, kind: target, command, reference }) => {
    const asked = domain.kinds[target];
    if (asked === undefined || role === 'anonymous') return never;
    const reading = rightOf(domain, asked, 'read', role);
    const right = isReadByAdmin ? reading : alsoOf(reading, rightOf(domain, asked, command, role));
    const toForm = rightToForm(domain, { kind: asked, command, role });
    const whole = toForm === always ? right : alsoOf(right, toForm);
    const isAsked = resolve(domain, kind, { command: type });
    const isOwn: Expression = { op: 'caller', field: kind.owner ?? '' };
    if (reference === undefined) {
      if (right === never || whole === always) return right === never ? never : isAsked;
      return and(isAsked, isOwn);
    }
    const byAll = and(isAsked, at(reference, target, whole));
    return whole === right ? byAll : or(byAll, and(isAsked, isOwn, at(reference, target, right)));
  });
  return isReadByAdmin && isOpenToAdmins(domain, kind) ? always : or(own, ...byCommand);
};

type Form = { readonly kind: Kind; readonly command: string; readonly role: string };

/** The right to read all parts of an aggregate that a form can write. */
const rightToForm = (domain: Domain, { kind, command, role }: Form): Expression => {
  const { form = [], list } = kind.commands[command] ?? {};
  const guards = form.flatMap((field) => guardOfField(kind, field) ?? []);
  const ofList = list === undefined ? [] : (partOfItems(kind, list)?.name ?? []);
  return and(
    ...new Set([...guards, ...[ofList].flat()]).values().map((each) => rightOf(domain, kind, each, role)),
  );
};

/** Whether administrators may read whatever a request can be about, also of a command without `confirm` by now. */
const isOpenToAdmins = (domain: Domain, { confirms, fields }: AgentRequests): boolean =>
  [
    ...new Set([
      ...confirms.map(({ kind }) => kind),
      ...Object.values(fields).flatMap((def) => (def.kind === 'ref' ? targetOf(def) : [])),
    ]),
  ]
    .flatMap((name) => domain.kinds[name] ?? [])
    .every((each) =>
      ['read', ...partRightsOf(each).map(({ name }) => name)].every(
        (right) => rightOf(domain, each, right, 'admin') === always,
      ),
    );

/** Both, in the shortest form: the second alone if it is one of the alternatives of the first. */
const alsoOf = (whole: Expression, part: Expression): Expression => {
  const key = JSON.stringify(part);
  const isAmong = (whole.op === 'or' ? whole.of : [whole]).some((each) => JSON.stringify(each) === key);
  return isAmong ? part : and(whole, part);
};

/** Follows `as` from the first kind to the last. */
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
      `${kind.name}: the right ${name} has an entry for anyone, so \`as\` has no effect: remove one of them.`,
    );
  if (before.includes(kind))
    throw new StartRefused(
      `${kind.name}: the right ${name} has \`as\` ${row.as}, which leads back to itself: declare there who has the right.`,
    );
  const own = row[role] ?? (role === 'anonymous' || role === 'admin' ? undefined : row.signedIn);
  if (own !== undefined) return resolve(domain, kind, own);
  const def = kind.fields[row.as];
  const target = def && domain.kinds[targetOf(def)];
  if (!target) return never;
  const there = rightAlong(domain, [target, ...kinds], name === 'read' ? 'read' : 'write', role);
  // An unconditional right to the target is an unconditional right here.
  return there === always ? always : at(row.as, target.name, there);
};

/** True if exactly those callers may read it who may read the target of the reference. */
export const isReadAs = ({ rights: { read = {} } }: Kind, reference: string): boolean =>
  read.as === reference && Object.keys(read).every((key) => key === 'as' || key === 'scope');

/**
 * Roles without an entry get that of all users; administrators may do everything unless the row restricts
 * them.
 */
export const cellOf = (row: Row, role: string): unknown => {
  if (row[role] !== undefined) return row[role];
  if (role === 'admin') return true;
  return (role === 'anonymous' ? row.anyone : (row.signedIn ?? row.anyone)) ?? false;
};

const scopeOf = (kind: Kind, name: string): string => {
  const { scope } = rowOf(kind, name);
  return `${typeof scope === 'string' ? scope : isToRead(kind, name) ? 'read' : 'write'}:${kind.path}`;
};

/** Whether it is a right to read. A write needs the right to its command beside it. */
const isToRead = (kind: Kind, name: string): boolean =>
  name === 'read' || name === READERS || isOfParts(kind, name);

/** True if a right depends on the id only, so that it can be decided for an id that never existed. */
export const isOfId = (domain: Domain, kind: Kind, name: string): boolean =>
  (rightsOf(domain).get(operationOf(kind, name))?.alternatives ?? []).every(
    (each) => each.op === 'const' || (each.op === 'caller' && each.field === 'id'),
  );
