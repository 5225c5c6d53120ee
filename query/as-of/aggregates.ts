import type { Domain } from '#kernel/registry/registry.ts';
import type { Operation } from '#shared/policy.ts';
import type { Table } from '#shared/read-model/change.ts';
import { demandSource, sourcesOf } from '../sources.ts';

/** What has a stream of its own and a row in the read model. */
export type Kind = string;

/** Where they are by REST. */
export const pathOf = (domain: Domain, kind: Kind, id: number): string =>
  `/${demandSource(sourcesOf(domain), kind).kind.path}/${id}`;

/** What reading it takes. */
export const readingOf = (domain: Domain, kind: Kind): Operation =>
  demandSource(sourcesOf(domain), kind).right;

/** A row as PostgreSQL would give it; what no event has set is null. */
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
