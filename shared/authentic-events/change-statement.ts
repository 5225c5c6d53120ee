import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type Batch, batchOf, type Decision, sortedDigests, unitedBatches } from './decided.ts';
import { writeDigests } from './decided-rows.ts';
import { createEventMac } from './event-mac.ts';
import { findStatement, keepStatement } from './keep-statement.ts';
import type { Authenticating } from './statement.ts';

type Changing = {
  readonly pool: Pick<Pool | Connection, 'query'>;
  readonly masterKey: MasterKey;
  readonly auditDir: string;
};

const authenticatingOf = ({ masterKey }: Changing, log: LogIdentity): Authenticating => ({
  log,
  mac: createEventMac(masterKey),
});

/** The digests of the events about which an operator has decided so. */
export type Decisions = ReadonlyMap<Decision, readonly string[]>;

/** Each process reads all decisions once a minute, and the statement grows by some 150 bytes with each. */
export const DECISIONS_MAX = 10_000;

/** Adds decisions about events. Running processes read them within a minute. */
export const decide = async (changing: Changing, log: LogIdentity, decisions: Decisions): Promise<void> => {
  const found = await findStatement(changing, authenticatingOf(changing, log));
  if (found === undefined)
    throw new Error(`nothing says since when the events of the log ${log} are authentic`);
  if (found.decided.length >= DECISIONS_MAX)
    throw new StartRefused(
      `The log has ${DECISIONS_MAX} decisions of operators, and no more are kept: stop whoever inserts such events first (docs/runbooks.md, “Events that no command wrote”). Nothing was decided.`,
    );
  const n = found.n + 1;
  const batches: Batch[] = [];
  for (const [is, named] of decisions) {
    if (named.length === 0) continue;
    const digests = sortedDigests(named);
    const batch = batchOf(digests, { n, is });
    await writeDigests(changing.pool, batch, digests);
    batches.push(batch);
  }
  const decided = unitedBatches(found.decided, batches);
  await keepStatement(changing, { ...found, n, decided }, authenticatingOf(changing, log));
};

type Renewal = { readonly from: LogIdentity; readonly to: LogIdentity; readonly head: Position };

/**
 * After a log has got another identity: its present events keep their MACs, and later ones have them with the new
 * identity, so that none of those that it has lost can return.
 */
export const renewStatement = async (changing: Changing, { from, to, head }: Renewal): Promise<void> => {
  const found = await findStatement(changing, authenticatingOf(changing, from));
  if (found === undefined) return;
  const kept = found.epochs.filter((epoch) => epoch.from < head);
  const epochs = found.epochs.length === 0 ? [] : [...kept, { scope: to, from: head }];
  const written = { ...found, n: found.n + 1, log: to, epochs };
  await keepStatement(changing, written, authenticatingOf(changing, to));
};
