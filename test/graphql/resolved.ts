import type { DocumentNode, ExecutionResult, OperationDefinitionNode } from 'graphql';
import { publishing } from '#domain/publishing.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { createExecutor, type ExecutorOptions } from '../../query/graphql/executor.ts';
import { searchesOn } from '../../query/rows/searches.ts';
import { schema as publishingSchema } from '../engines/schema.ts';

type Read = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Record<string, unknown>;
  readonly caller: Caller;
};

/** Runs reads on the resolvers, without the dependencies of mutations. */
export const resolveOver = (
  pool: Pool,
  domain: Domain = publishing,
  schema = publishingSchema,
): ((read: Read) => Promise<ExecutionResult>) => {
  const execute = createExecutor({ domain, schema, pool, searches: searchesOn(pool) } as ExecutorOptions);
  return ({ document, operation, variables, caller }) => {
    const prepared = { hash: '', schema, document, operations: [], introspects: false };
    const runnable = {
      prepared,
      operation: { node: operation, rights: new Set<never>() },
      variables,
      caller,
      cost: 0,
    };
    const { signal } = new AbortController();
    return execute(runnable, {
      requestId: 'test',
      idempotencyKey: undefined,
      charge: async () => {},
      headers: {},
      signal,
    });
  };
};

/** The comparable parts of two answers: which of several errors makes a field null depends on timing. */
export const comparable = ({ data, errors = [] }: ExecutionResult) => ({
  data: JSON.stringify(data),
  isWhole: errors.length === 0,
});
