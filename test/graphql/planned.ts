import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { createReadModel } from '#shared/projection/schema.ts';
import { createPlanner, type Planner } from '../../query/graphql/planner/planner.ts';
import { searchesOn } from '../../query/searches.ts';
import { createDatabase } from '../engines/database.ts';
import { POLICY } from '../engines/policy.ts';
import { schema } from '../engines/schema.ts';
import { tables } from '../engines/tables.ts';

export type PlannedReadModel = AsyncDisposable & { readonly pool: Pool; readonly planner: Planner };

/** A planner on an empty read model of its own. */
export const openPlannedReadModel = async (connectionsMax: number): Promise<PlannedReadModel> => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'planner test', connectionsMax }));
  await createReadModel(pool, tables, 'read_model');
  const resources = opening.move();
  return {
    pool,
    planner: createPlanner({ schema, policy: POLICY, pool, searches: searchesOn(pool) }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** A document with its one operation. */
export const operationOf = (text: string) => {
  const document = parse(text);
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  if (operation === undefined) throw new Error('the document has no operation');
  return { document, operation };
};

export const ANONYMOUS: Caller = { kind: 'anonymous', policy: POLICY };
