import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { type Candidate, findPast, type Part } from '../time-travel/candidates.ts';
import type { Past } from '../time-travel/past.ts';
import { presentOf } from '../time-travel/present.ts';
import { foldGroups } from './fold.ts';
import type { Found, Groups } from './groups.ts';

type PastList = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly past: Past;
  readonly caller: Caller;
  readonly kind: string;
  readonly parts: readonly Part[];
  look(candidate: Candidate): Promise<object | undefined>;
  readonly groups: Groups;
};

/** Only these are the same now as they were then, so only these narrow the search. */
export const TOO_MUCH =
  'Grouping this list at that point in time needs too many reads: ask for that of one parent or owner; other filters do not help.';

/**
 * The groups of a list in the past, whose items are read from their streams. Undefined if that is too much, as
 * for a page of such a list.
 */
export const readPastGroups = async ({
  domain,
  pool,
  past,
  caller,
  kind,
  parts,
  look,
  groups,
}: PastList): Promise<Found | undefined> => {
  const present = presentOf(domain, kind);
  const { found, stoppedAt } = await findPast({
    pool,
    past,
    parts,
    stretch: { isDownward: true, beyond: undefined },
    rowsMax: Number.POSITIVE_INFINITY,
    async look(candidate) {
      const row = await look(candidate);
      return row && (await present(past, row as never, caller))?.item;
    },
  });
  return stoppedAt === undefined ? foldGroups(found, groups) : undefined;
};
