import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import type { Caller } from '#shared/policy.ts';
import { createPlanner } from '../../query/graphql/planner/planner.ts';
import { searchesOn } from '../../query/rows/searches.ts';
import { POLICY } from '../engines/policy.ts';
import { test as base } from '../engines/read-model-fixture.ts';
import { schema } from '../engines/schema.ts';
import { resolveOver } from './resolved.ts';

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

/** The planner and the resolvers on an empty read model. */
export const test = base
  .extend('planner', { scope: 'file' }, ({ pool }) =>
    createPlanner({ schema, policy: POLICY, pool, searches: searchesOn(pool) }),
  )
  .extend(
    'plan',
    { scope: 'file' },
    ({ planner }) =>
      (text: string, caller: Caller = ANONYMOUS, variables: Record<string, unknown> = {}) =>
        planner.plan({ ...operationOf(text), variables, caller }),
  )
  .extend('resolve', { scope: 'file' }, ({ pool }) => resolveOver(pool));
