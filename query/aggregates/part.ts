import type { QueryPart } from '../part.ts';
import { openAggregates } from './aggregates.ts';
import { aggregateReads } from './reads.ts';

/** `/aggregate` below every list: counts, sums and other measures of what the list contains, by groups. */
export const part: QueryPart = {
  links: [],
  async open(resources) {
    const aggregates = await resources.once(openAggregates);
    return { reads: aggregateReads({ ...resources, aggregates }) };
  },
};
