import type { Operation } from '#kernel/base/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Table } from '#kernel/rows/change.ts';
import { demandSource, sourcesOf } from '../rows/sources.ts';

/** A kind of aggregate: it has a stream per id and a row in the read model. */
export type Kind = string;

/** The path of an aggregate in the REST interface. */
export const pathOf = (domain: Domain, kind: Kind, id: number): string =>
  `/${demandSource(sourcesOf(domain), kind).kind.path}/${id}`;

/** The right to read the kind. */
export const readingOf = (domain: Domain, kind: Kind): Operation =>
  demandSource(sourcesOf(domain), kind).right;

/** A row as PostgreSQL would return it; columns that no event has set are null. */
export const rowOf = (
  { columns }: Pick<Table, 'columns'>,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(columns).map(([column, type]) => {
      const value = values[column] ?? null;
      return [column, type === 'timestamptz' && value !== null ? new Date(String(value)) : value];
    }),
  );
