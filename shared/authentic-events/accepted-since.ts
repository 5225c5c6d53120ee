import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { NOTHING_DECIDED } from './decided.ts';
import { readDecided } from './decided-rows.ts';
import { createEventMac } from './event-mac.ts';
import { readRow } from './statement-row.ts';

type Reading = {
  readonly connection: Connection;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
};

/** Whether an operator has accepted one of these events that a process still reads as refused, by their digests. */
export const isAcceptedSince = async (
  { connection, masterKey, log }: Reading,
  digests: readonly string[],
): Promise<boolean> => {
  const statement = await readRow(connection, { log, mac: createEventMac(masterKey) });
  if (statement === undefined) return false;
  const decided = await readDecided(connection, statement.decided, NOTHING_DECIDED);
  return digests.some((digest) => decided.about(digest) === 'accepted');
};
