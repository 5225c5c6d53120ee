import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import type { OfStreams } from '#shared/read-model/tables.ts';
import { operationsOf } from '#shared/rest/operations.ts';

/** The operations that need a right to it. */
export const operationsTo = (domain: Domain, { name }: Kind) =>
  Object.entries(operationsOf(domain)).flatMap(([id, { method, path, right, summary }]) =>
    right?.startsWith(`${name}.`)
      ? [{ id, method, path, scope: policyOf(domain).rights.get(right)?.scope, summary }]
      : [],
  );

/** The definition of a table, by its lines. */
export const tableLines = ({ name: table, definition }: Pick<OfStreams, 'name' | 'definition'>) => ({
  table,
  columns: definition.table
    .split('\n')
    .slice(1, -1)
    .map((line) => line.trim().replace(/,$/, '')),
  indexes: definition.indexes,
});
