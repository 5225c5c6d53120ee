import type { Operation } from '#shared/policy.ts';
import type { Table } from '#shared/read-model/change.ts';

/** What has a stream of its own and a row in the read model. */
export type Kind = string;

/** What reading it takes. */
export const readingOf = (kind: Kind): Operation => (kind === 'webhook' ? 'webhook.manage' : `${kind}.read`);

/** A row as PostgreSQL would give it; what no event has set is null. */
export const rowOf = ({ columns }: Pick<Table, 'columns'>, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(columns).map(([column, type]) => {
      const value = values[column] ?? null;
      return [column, type === 'timestamptz' && value !== null ? new Date(String(value)) : value];
    }),
  );
