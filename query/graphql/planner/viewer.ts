import type { UserId } from '#shared/brands.ts';
import { ROLES } from '#shared/events/fields.ts';
import { type Caller, type Fact, type Operation, reachOf, SCOPES } from '#shared/policy.ts';
import { type Parameter, parameter } from './parameter.ts';
import { joined, Sql, sql } from './sql.ts';

/**
 * What the caller's rights to an operation leave of the rows, by the facts that can be told of a row. The rights are parameters,
 * so that one prepared statement serves every caller.
 */
export const rightTo = (operation: Operation, facts: Readonly<Partial<Record<Fact, Sql>>>): Sql => {
  const alternatives = factsOf(operation).map((fact) => sql`(${isGranted(operation, fact)} and ${facts[fact] ?? FALSE})`);
  return sql`(${joined([isGranted(operation, 'always'), ...alternatives], sql` or `)})`;
};

const FALSE = sql`false`;

/** The facts on which the right of some role depends: a condition that nobody needs would be tried for every row. */
const factsOf = (operation: Operation): readonly Fact[] => {
  const reaches = ROLES.map((role) => reachOf({ kind: 'user', userId: NOBODY, role, scopes: new Set(SCOPES), client: null }, operation));
  const all = [...reaches, reachOf({ kind: 'anonymous' }, operation)];
  return [...new Set(all.flatMap((reach) => (typeof reach === 'string' ? [] : reach)))];
};

const NOBODY = 0 as UserId;

/** Null for those who own nothing. */
export const viewerId: Sql = parameter('bigint', ({ caller }) => userIdOf(caller));

const userIdOf = (caller: Caller): number | null => (caller.kind === 'user' ? caller.userId : null);

/** Each is made once, because a parameter is told from others by identity. */
const parameters = new Map<string, Parameter>();

export const isGranted = (operation: Operation, extent: Fact | 'always'): Sql => {
  const name = `${operation} ${extent}`;
  const known = parameters.get(name);
  if (known) return Sql.parameter(known);
  const granted: Parameter = { type: 'boolean', read: ({ caller }) => grants(caller, operation, extent) };
  parameters.set(name, granted);
  return Sql.parameter(granted);
};

const grants = (caller: Caller, operation: Operation, extent: Fact | 'always'): boolean => {
  const reach = reachOf(caller, operation);
  return typeof reach === 'string' ? reach === extent : extent !== 'always' && reach.includes(extent);
};
