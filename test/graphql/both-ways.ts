import { type Caller, policyOf } from '#shared/policy.ts';
import { createPlanner } from '../../query/graphql/planner/planner.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import { searchesOn } from '../../query/rows/searches.ts';
import { test as base } from '../engines/read-model-fixture.ts';
import { operationOf } from './planned.ts';
import { resolveOver } from './resolved.ts';

/**
 * A read model of a domain. `answersTo` returns the planner's answer, undefined if it leaves the query to the
 * resolvers; and the resolvers' answer or errors.
 */
export const test = base
  .extend('connectionsMax', { scope: 'file' }, 2)
  .extend(
    'viewer',
    { scope: 'file' },
    ({ domain }): Caller => ({ kind: 'anonymous', policy: policyOf(domain) }),
  )
  .extend('answersTo', { scope: 'file' }, ({ domain, pool, viewer }) => {
    const schema = schemaOf(domain);
    const searches = searchesOn(pool);
    const planner = createPlanner({ schema, policy: policyOf(domain), pool, searches });
    const resolve = resolveOver(pool, domain, schema);
    return async (text: string, caller: Caller = viewer): Promise<readonly unknown[]> => {
      const read = { ...operationOf(text), variables: {}, caller };
      const planned = await planner.plan(read);
      const { data, errors } = await resolve(read);
      return [planned && JSON.parse(planned), errors ?? JSON.parse(JSON.stringify(data))];
    };
  });
