import * as z from 'zod';
import { later } from '../base/later.ts';
import { oneOf, spaced } from '../base/names.ts';
import { atOfGroups } from '../base/rest/at.ts';
import type { Domain } from '../registry/registry.ts';
import { type AggregateOperation, type Named, parentOf } from './operation.ts';

/** Loaded where aggregates are served; the check of a declaration needs only the names of the operations. */
export const AGGREGATES = later(
  'The module of the operations of aggregates',
  () => import('./aggregates.ts'),
);

/** The operation that groups what a list contains, by the same filters. */
export const aggregateOf = (domain: Domain, [id, list]: Named): Named => {
  const { kind, does } = list.use;
  const { limit: _limit, after: _after, before: _before, sort: _sort, ...filters } = list.query?.shape ?? {};
  const words = spaced(kind.plural);
  const above =
    does === 'listOfUser'
      ? ' of a user'
      : parentOf(domain, kind) === undefined
        ? ''
        : ` of ${oneOf(parentOf(domain, kind)?.name ?? '')}`;
  const operation: AggregateOperation = {
    ...list,
    path: `${list.path}/aggregate`,
    summary: `The number of ${words}${above} that you may read, with sums and other measures, by groups`,
    get query() {
      const { parametersOf } = AGGREGATES.module;
      return z.strictObject({
        ...parametersOf(kind),
        ...filters,
        ...('at' in filters && { at: atOfGroups }),
      });
    },
    answer: {
      status: 200,
      description: 'The groups.',
      kind: 'item',
      get schema() {
        return AGGREGATES.module.aggregateSchema(kind);
      },
    },
    use: { kind, does: 'aggregate', of: does === 'listOfUser' ? 'listOfUser' : 'list' },
  };
  return [id.replace(/^list/, 'aggregate'), operation];
};
