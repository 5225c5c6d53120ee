import { type Caller, type Fact, type Operation, reachOf } from '#shared/policy.ts';
import { type Parameter, parameter } from './parameter.ts';
import { joined, Sql, sql } from './sql.ts';

/**
 * What the caller's rights to an operation leave of the rows, by the facts that can be told of a row. The rights are parameters,
 * so that one prepared statement serves every caller.
 */
export const rightTo = (operation: Operation, facts: Readonly<Partial<Record<Fact, Sql>>>): Sql => {
  const alternatives = Object.entries(facts).map(([fact, condition]) => sql`(${isGranted(operation, fact as Fact)} and ${condition})`);
  return sql`(${joined([isGranted(operation, 'always'), ...alternatives], sql` or `)})`;
};

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
