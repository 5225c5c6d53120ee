import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Context, Resolver } from '../resolvers/context.ts';
import { readById } from '../resolvers/reads.ts';
import type { Row } from '../resolvers/rows.ts';
import { subgraphSdlOf } from './sdl.ts';

/** The root fields for gateways. One statement reads all entities of a type. */
export const federationOf = (domain: Domain): Readonly<Record<string, Resolver>> => {
  const entities = Object.values(domain.kinds).map(({ type }) => type);
  const readEntity = async (context: Context, { __typename, id }: Representation): Promise<Row | null> => {
    const type = entities.find((each) => each === __typename);
    if (type !== undefined && (typeof id === 'string' || typeof id === 'number'))
      return readById(context, type, id);
    throw new HttpProblem('malformed_request', {
      detail: `A representation must have the id and the __typename of one of ${entities.join(', ')}.`,
    });
  };
  return {
    _service: () => ({ sdl: subgraphSdlOf(domain) }),
    _entities: (_query, { representations }, context) =>
      (representations as readonly Representation[]).map((representation) =>
        readEntity(context, representation),
      ),
  };
};

type Representation = { readonly __typename?: unknown; readonly id?: unknown };
