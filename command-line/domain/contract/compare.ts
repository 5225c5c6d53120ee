import { compareEvents } from './compare-events.ts';
import { compareGraphql } from './compare-graphql.ts';
import { compareOperations } from './compare-operations.ts';
import { compareRights } from './compare-rights.ts';
import { compareRules } from './compare-rules.ts';
import type { Contract } from './contract.ts';
import type { Finding } from './finding.ts';
import { compareViews } from './views.ts';

/** Compares the recorded contract with the current declaration. */
export const compareContracts = (before: Contract, after: Contract): readonly Finding[] => {
  const all = [
    ...compareEvents(before.events, after.events),
    ...compareOperations(before.operations, after.operations),
    ...compareGraphql(before.schema, after.schema),
    ...compareRights(before.rights, after.rights),
    ...compareRules(before.rights, after.rights),
    ...compareViews(before.rights.views, after.rights.views),
  ];
  // A body is the same in each of its media types.
  return [...new Map(all.map((finding) => [`${finding.what}: ${finding.says}`, finding])).values()];
};
