import { LRUCache } from 'lru-cache';
import type { UserId, Version } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { Log } from '#shared/log.ts';
import type { PersonInLog, ReadPerson } from './read-person.ts';

/** The role in a row of the table of persons, with the version that it reflects. */
type PersonInTable = { readonly userId: UserId; readonly role: Role; readonly version: Version };

/**
 * Returns what the log says of a person of the table; undefined if they are deleted or not in the log.
 *
 * The table is a copy, and SQL can write it: a role that counts must be in the log. A keyed digest in the row
 * would need a column that former releases do not write, and a key to restore. So the log is read instead,
 * and the result is remembered for a minute as long as the row says the same: requests with access tokens cost
 * nothing, and issuing tokens to one person costs one short read a minute. A row that says something else than
 * the log costs one read in five seconds, so that a forged row cannot keep the log busy.
 */
export type CheckPerson = (row: PersonInTable) => Promise<PersonInLog | undefined>;

type Dependencies = { readonly readPerson: ReadPerson; readonly clock: Clock; readonly log: Log };

const CHECKED_MAX = 20_000;
/** How long SQL can bring back a role that the person had in this time. */
const CHECKED_MS = 60_000;
const REFUTED_MS = 5_000;

type Checked = {
  /** The row that was read for. */
  readonly row: PersonInTable;
  readonly person: PersonInLog | undefined;
  readonly atMs: number;
};

export const createCheckPerson = ({ readPerson, clock, log }: Dependencies): CheckPerson => {
  const known = new LRUCache<UserId, Checked>({ max: CHECKED_MAX });
  return async (row) => {
    const checked = known.get(row.userId);
    const isSame = checked?.person !== undefined && isEqual(checked.person, row);
    const isRefuted = checked !== undefined && !isSame && isEqual(checked.row, row);
    const keptMs = isSame ? CHECKED_MS : isRefuted ? REFUTED_MS : 0;
    if (checked !== undefined && clock.elapsedMs() - checked.atMs < keptMs) return checked.person;
    const found = await readPerson(row.userId).catch((error: unknown) => {
      // Tokens are issued while the log does not answer, to persons who were found in it before.
      if (error instanceof LogUnavailable && isSame) return checked.person;
      throw error;
    });
    if (found === undefined || isForged(row, found)) log.error({ userId: row.userId }, FORGED);
    const person = found?.isDeleted ? undefined : found;
    known.set(row.userId, { row, person, atMs: clock.elapsedMs() });
    return person;
  };
};

type Stated = Pick<PersonInTable, 'role' | 'version'>;

const isEqual = (one: Stated, other: Stated): boolean =>
  one.role === other.role && one.version === other.version;

const FORGED =
  'The role of a user in auth.person is not that of the event log, which counts: somebody has changed the table.';

/** An older version may have had another role: the directory of persons lags. */
const isForged = ({ role, version }: PersonInTable, person: PersonInLog): boolean =>
  version >= person.version && role !== person.role;
