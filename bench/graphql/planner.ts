import type { UserId } from '../../kernel/base/brands.ts';
import { costOf } from '../../query/graphql/documents/cost.ts';
import { createDocuments } from '../../query/graphql/documents/documents.ts';
import { createPlanner } from '../../query/graphql/planner/planner.ts';
import { refusalOf } from '../../query/graphql/rules/rights.ts';
import { searchesOn } from '../../query/rows/searches.ts';
import { openPool } from '../../shared/database/pool.ts';
import type { Caller } from '../../shared/policy.ts';
import { POLICY, SCOPES } from '../../test/engines/policy.ts';
import { schema } from '../../test/engines/schema.ts';
import { serve } from './serve.ts';

// The planner behind node:http with the limits and rights of the product; it reads the caller from the token
// without verifying it.
const pool = openPool({
  url: String(process.argv[2]),
  applicationName: 'bench',
  connectionsMax: Number(process.argv[3] ?? 4),
});
const planner = createPlanner({ schema, policy: POLICY, pool, searches: searchesOn(pool) });
const limits = {
  tokensMax: 2_000,
  depthMax: 10,
  aliasesMax: 30,
  directivesMax: 50,
  rootFieldsMax: 20,
  costMax: 1_000,
};
const documents = createDocuments({ domain: POLICY.domain, schema, limits, suggests: true });

const callerOf = (authorization: string | undefined): Caller =>
  authorization === undefined
    ? { kind: 'anonymous', policy: POLICY }
    : {
        kind: 'user',
        policy: POLICY,
        userId: subjectOf(authorization) as UserId,
        role: 'author',
        scopes: new Set(SCOPES),
        client: null,
      };

const subjectOf = (authorization: string): number =>
  Number(JSON.parse(Buffer.from(authorization.split('.')[1] ?? '', 'base64url').toString()).sub);

await serve(async ({ query, variables, authorization }) => {
  const prepared = documents.prepare(query);
  const operation = 'document' in prepared ? prepared.operations[0] : undefined;
  if (!('document' in prepared) || operation === undefined) throw new Error('refused');
  const caller = callerOf(authorization);
  if (refusalOf(caller, operation.rights, operation.node.operation)) throw new Error('refused');
  if (costOf(schema, prepared.document, operation.node, variables) > limits.costMax)
    throw new Error('too costly');
  const data = await planner.plan({
    document: prepared.document,
    operation: operation.node,
    variables,
    caller,
  });
  if (data === undefined) throw new Error('not planned');
  return `{"data":${data}}`;
});
