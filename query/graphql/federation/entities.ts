import { HttpProblem } from '#shared/http/http-problem.ts';
import type { Context, Resolver } from '../resolvers/context.ts';
import { readById } from '../resolvers/reads.ts';
import type { Row, TypeName } from '../resolvers/rows.ts';
import { subgraphSdlOf } from './sdl.ts';

/** Of the root, for gateways. Entities of one type are read by one statement. */
export const FEDERATION: Readonly<Record<string, Resolver>> = {
  _service: (_query, _args, { domain }) => ({ sdl: subgraphSdlOf(domain) }),
  _entities: (_query, { representations }, context) =>
    (representations as readonly Representation[]).map((representation) => readEntity(context, representation)),
};

type Representation = { readonly __typename?: unknown; readonly id?: unknown };

const ENTITIES: readonly TypeName[] = ['User', 'Post', 'Comment'];

const readEntity = async (context: Context, { __typename, id }: Representation): Promise<Row | null> => {
  const type = ENTITIES.find((each) => each === __typename);
  if (type !== undefined && (typeof id === 'string' || typeof id === 'number')) return readById(context, type, id);
  throw new HttpProblem('malformed_request', { detail: `A representation names one of ${ENTITIES.join(', ')} by its id.` });
};
