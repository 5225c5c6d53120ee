import { targetOf } from '../registry/names.ts';
import type { Domain, Kind, Row } from '../registry/registry.ts';
import { type Expression, type Find, holds, knowing, never, or, resolve, type State, toSql } from './expression.ts';

export type Caller = { readonly role: string; readonly id: number | null };

/** The row of the policy for an operation: `read`, a command, or a right to fields. */
const rowOf = (kind: Kind, operation: string): Row =>
  kind.rights[operation] ?? kind.fieldRights[operation] ?? (operation === 'read' ? {} : (kind.rights.write ?? {}));

/** What somebody with this role must find true of it. */
export const rightOf = (domain: Domain, kind: Kind, operation: string, role: string): Expression => {
  const row = rowOf(kind, operation);
  if (typeof row.as === 'string') {
    const def = kind.fields[row.as];
    const target = def && domain.kinds[targetOf(def)];
    // As of the parent, reading; the condition is asked of the parent.
    return target
      ? resolve(domain, kind, {
          [row.as]: asCondition(target, operation === 'read' ? 'read' : 'write', role),
        })
      : never;
  }
  return resolve(domain, kind, cellOf(row, role));
};
const cellOf = (row: Row, role: string): unknown =>
  row[role] ?? (role === 'admin' ? true : role === 'anonymous' ? (row.anyone ?? false) : (row.signedIn ?? row.anyone ?? false));
const asCondition = (target: Kind, operation: string, role: string): unknown => {
  const cell = cellOf(rowOf(target, operation), role);
  return typeof cell === 'boolean' ? (cell ? {} : []) : cell;
};

export const scopeOf = (kind: Kind, operation: string): string => {
  const { scope } = rowOf(kind, operation);
  const first = typeof scope === 'string' ? scope : operation === 'read' || kind.fieldRights[operation]?.reads ? 'read' : 'write';
  return `${first}:${kind.plural}`;
};

/** What is asked of one item: whether a caller may do something with it, given what its references lead to. */
export type Question = { readonly kind: Kind; readonly state: State; readonly caller: Caller; readonly find: Find };

/** One item, in memory. */
export const may = (domain: Domain, operation: string, { kind, state, caller, find }: Question): boolean =>
  holds(rightOf(domain, kind, operation, caller.role), state, caller.id, find);

type Grant = { readonly parameter: string; readonly roles: readonly string[] };
/**
 * Lists: one statement for all callers. Each alternative of each role is granted by a parameter, which is the same in all parts of a
 * statement: its name stands for the alternative and for the roles that have it.
 */
export const rightSql = (
  domain: Domain,
  { kind, alias, known }: { readonly kind: Kind; readonly alias: string; readonly known?: readonly [string, string] },
  operation: string,
): { sql: string; parameters: readonly Grant[] } => {
  const grants = new Map<string, { readonly expression: Expression; readonly roles: string[] }>();
  for (const role of domain.roles) {
    const right = rightOf(domain, kind, operation, role);
    const left = known ? knowing(right, ...known) : right;
    for (const expression of left.op === 'or' ? left.of : [left]) {
      if (expression.op === 'const' && !expression.value) continue;
      const key = JSON.stringify(expression);
      const grant = grants.get(key) ?? { expression, roles: [] };
      grant.roles.push(role);
      grants.set(key, grant);
    }
  }
  const parts = [...grants.values()].map(({ expression, roles }) => {
    const parameter = `$is_${roles.join('_or_')}`;
    return {
      parameter,
      roles,
      sql: expression.op === 'const' ? parameter : `(${parameter} and ${toSql(domain, kind, expression, alias)})`,
    };
  });
  return {
    sql: parts.length === 0 ? 'false' : parts.map(({ sql }) => sql).join(' or '),
    parameters: parts.map(({ parameter, roles }) => ({ parameter, roles })),
  };
};

/** Lists in parts that have nothing in common, one for each state. */
export const listParts = (
  domain: Domain,
  kind: Kind,
  alias: string,
): readonly { readonly where: string; readonly parameters: readonly Grant[] }[] => {
  const states = Object.entries(kind.fields).find(([, def]) => def.kind === 'states');
  if (!states)
    return [rightSql(domain, { kind, alias }, 'read')].map(({ sql, parameters }) => ({
      where: sql,
      parameters,
    }));
  const [field, { values = [] }] = states;
  return values.map((value) => {
    const { sql, parameters } = rightSql(domain, { kind, alias, known: [field, value] }, 'read');
    return { where: `${alias}.${field} = '${value}' and (${sql})`, parameters };
  });
};

type Happened = {
  readonly kind: string;
  readonly event: string;
  readonly data: State;
  readonly before: State | undefined;
  readonly after: State | undefined;
};
/**
 * Streams: who may read it as it was before or after. If fewer may read all the fields that the event changed, they alone. What it
 * refers to is as of the event. Unknown kinds and events are never visible.
 */
export const mayKnow = (domain: Domain, { kind: name, event, data, before, after }: Happened, caller: Caller, find: Find): boolean => {
  const kind = domain.kinds[name];
  const info = kind?.events[event];
  if (!kind || !info || info.spec.internal === true) return false;
  const changed = info.effect === 'changes' ? info.content.filter((field) => field in data) : [];
  const guards = Object.entries(kind.fieldRights).filter(
    ([, { reads }]) => changed.length > 0 && changed.every((field) => (reads as string[] | undefined)?.includes(field)),
  );
  const operations = guards.length > 0 ? guards.map(([right]) => right) : ['read'];
  const right = or(...operations.map((operation) => rightOf(domain, kind, operation, caller.role)));
  return [before, after].some((state) => state !== undefined && holds(right, state, caller.id, find));
};
