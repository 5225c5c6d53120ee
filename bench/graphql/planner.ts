import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { createPlanner } from '../../query/graphql/planner/planner.ts';
import { refusalOf, rightsOf } from '../../query/graphql/rights.ts';
import { schema } from '../../query/graphql/schema.ts';
import type { UserId } from '../../shared/brands.ts';
import { openPool } from '../../shared/database/pool.ts';
import { type Caller, SCOPES } from '../../shared/policy.ts';
import { serve } from './serve.ts';

// The planner alone behind node:http: documents parsed once, rights checked. `authorization` holds the id of an author.
const pool = openPool({ url: String(process.argv[2]), applicationName: 'bench', connectionsMax: Number(process.argv[3] ?? 4) });
const planner = createPlanner({ schema, pool });

const prepare = (text: string) => {
  const document = parse(text);
  const operation = document.definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION);
  if (operation === undefined) throw new Error('no operation');
  return { document, operation, rights: rightsOf(schema, document, operation) };
};
const documents = new Map<string, ReturnType<typeof prepare>>();

const callerOf = (authorization: string | undefined): Caller =>
  authorization === undefined
    ? { kind: 'anonymous' }
    : { kind: 'user', userId: Number(authorization) as UserId, role: 'author', scopes: new Set(SCOPES), client: null };

await serve(async ({ query, variables, authorization }) => {
  const { document, operation, rights } = documents.get(query) ?? documents.set(query, prepare(query)).get(query) ?? prepare(query);
  const caller = callerOf(authorization);
  if (refusalOf(caller, rights)) throw new Error('refused');
  const data = await planner.plan({ document, operation, variables, caller });
  if (data === undefined) throw new Error('not planned');
  return `{"data":${data}}`;
});
