import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type Batch, batchOf, type Decision, sortedDigests, unitedBatches } from './decided.ts';
import { writeDigests } from './decided-rows.ts';
import { createEventMac } from './event-mac.ts';
import { combined, isSame, type Statement } from './statement.ts';
import { readFileIn, writeFileIn } from './statement-file.ts';
import { readRow, writeRow } from './statement-row.ts';

type Changing = {
  readonly pool: Pick<Pool | Connection, 'query'>;
  readonly masterKey: MasterKey;
  readonly auditDir: string;
};

const find = async (
  { pool, masterKey, auditDir }: Changing,
  log: LogIdentity,
): Promise<Statement | undefined> => {
  const authenticating = { log, mac: createEventMac(masterKey) };
  const row = await readRow(pool, authenticating);
  const file = await readFileIn(auditDir, authenticating);
  return row && file ? combined(row, file) : (row ?? file);
};

/** Until the file has what the row says: somebody else may change both at the same moment. */
const write = async ({ pool, masterKey, auditDir }: Changing, written: Statement): Promise<void> => {
  const authenticating = { log: written.log, mac: createEventMac(masterKey) };
  for (let kept: Statement | undefined, next = written; kept === undefined || !isSame(kept, next); ) {
    kept = await writeRow(pool, next, authenticating);
    await writeFileIn(auditDir, kept, authenticating);
    next = (await readRow(pool, authenticating)) ?? kept;
  }
};

/** The digests of the events about which an operator has decided so. */
export type Decisions = ReadonlyMap<Decision, readonly string[]>;

/** Adds decisions about events. Running processes read them within a minute. */
export const decide = async (changing: Changing, log: LogIdentity, decisions: Decisions): Promise<void> => {
  const found = await find(changing, log);
  if (found === undefined)
    throw new Error(`nothing says since when the events of the log ${log} are authentic`);
  const n = found.n + 1;
  const batches: Batch[] = [];
  for (const [is, named] of decisions) {
    if (named.length === 0) continue;
    const digests = sortedDigests(named);
    const batch = batchOf(digests, { n, is });
    await writeDigests(changing.pool, batch, digests);
    batches.push(batch);
  }
  await write(changing, { ...found, n, decided: unitedBatches(found.decided, batches) });
};

type Renewal = { readonly from: LogIdentity; readonly to: LogIdentity; readonly head: Position };

/**
 * After a log has got another identity: its present events keep their MACs, and later ones have them with the new
 * identity, so that none of those that it has lost can return.
 */
export const renewStatement = async (changing: Changing, { from, to, head }: Renewal): Promise<void> => {
  const found = await find(changing, from);
  if (found === undefined) return;
  const kept = found.epochs.filter((epoch) => epoch.from < head);
  const epochs = found.epochs.length === 0 ? [] : [...kept, { scope: to, from: head }];
  await write(changing, { ...found, n: found.n + 1, log: to, epochs });
};
