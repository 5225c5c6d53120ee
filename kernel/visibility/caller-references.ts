import { attributesIn } from '../conditions/attributes.ts';
import type { Expression } from '../conditions/expression.ts';
import { callersIn } from '../conditions/fold.ts';
import { askedListOf } from '../conditions/lists.ts';
import type { Domain, Kind, ListInfo } from '../registry/registry.ts';
import { questionsOf, readingRights } from './watches.ts';

/**
 * The references by which rights to read lead from an aggregate to the caller, and the fields that they
 * compare with the caller’s. An index on each leads from the caller’s memberships to the rows that they
 * allow, so that a list never scans all rows for a caller who may read few.
 */
export const callerReferencesOf = (domain: Domain, kind: Kind): readonly string[] => {
  const found = Object.values(domain.kinds)
    .flatMap((of) => readingRights(domain, of).flatMap((right) => questionsOf(domain, right)))
    .flatMap(({ asked, at }) => (at.kind === kind && leadsToCaller(asked) ? [asked.field] : []));
  return [...new Set(found)].filter((field) => field !== kind.parent && field !== kind.owner);
};

/** The primary key indexes the id of a user. */
const leadsToCaller = (asked: Expression): boolean =>
  (asked.op === 'caller' && asked.field !== 'id') ||
  asked.op === 'callers' ||
  (asked.op === 'at' && (callersIn(asked.of).length > 0 || attributesIn(asked.of).length > 0));

/** The fields by which rights find the caller among the items of a list. */
export const callerReferencesOfItems = (domain: Domain, kind: Kind, list: ListInfo): readonly string[] =>
  askedListOf(domain, kind, list.name)?.callers ?? [];
