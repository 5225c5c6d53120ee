import type { Domain } from '#kernel/registry/registry.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { createPlanner } from '../../query/graphql/planner/planner.ts';
import { createExecutor, type ExecutorOptions } from '../../query/graphql/resolvers/executor.ts';
import { schemaOf } from '../../query/graphql/schema.ts';
import { searchesOn } from '../../query/searches.ts';
import { createDatabase } from '../engines/database.ts';
import { operationOf } from './planned.ts';

export type BothWays = AsyncDisposable & {
  readonly pool: Pool;
  /**
   * The planner's answer, undefined if it leaves the query to the resolvers; and the resolvers' answer or
   * errors.
   */
  answersTo(text: string, caller: Caller): Promise<readonly unknown[]>;
};

/** A read model of a domain with these rows, for the planner and the resolvers. */
export const openBothWays = async (domain: Domain, rows: string): Promise<BothWays> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(
    openPool({ url: database.url, applicationName: 'both ways test', connectionsMax: 2 }),
  );
  await createReadModel(pool, tablesOf(domain), 'read_model');
  await pool.query(rows);
  const schema = schemaOf(domain);
  const searches = searchesOn(pool);
  const planner = createPlanner({ schema, policy: policyOf(domain), pool, searches });
  const execute = createExecutor({ domain, schema, pool, searches } as ExecutorOptions);
  const resources = opening.move();
  return {
    pool,
    async answersTo(text, caller) {
      const { document, operation } = operationOf(text);
      const planned = await planner.plan({ document, operation, variables: {}, caller });
      const prepared = { hash: '', schema, document, operations: [], introspects: false };
      const runnable = {
        prepared,
        operation: { node: operation, rights: new Set<never>() },
        variables: {},
        caller,
        cost: 0,
      };
      const { signal } = new AbortController();
      const facts = {
        requestId: 'test',
        idempotencyKey: undefined,
        charge: async () => {},
        headers: {},
        signal,
      };
      const { data, errors } = await execute(runnable, facts);
      return [planned && JSON.parse(planned), errors ?? JSON.parse(JSON.stringify(data))];
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
