import type { WebhookId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { batched } from '../batched.ts';
import type { Delivery } from '../deliver/delivery.ts';
import { type Patience, type RecordAnswer, type Recorded, recordResults } from './record.ts';
import { type Claim, claimRuns, type Release, releaseRuns, renewRuns } from './runs.ts';
import { type Settled, settleShapes } from './settle.ts';
import { takeDue, type Wanted } from './take.ts';

/** The ledger as runs see it: what many runs ask for at the same time is one statement. */
export type RunLedger = {
  /** Nothing where somebody else runs it, or it may not be sent to. */
  claim(webhookId: WebhookId): Promise<Claim | undefined>;
  take(wanted: Wanted): Promise<readonly Delivery[]>;
  /** Whether it is still one's own. */
  settle(settled: Settled): Promise<boolean>;
  record(recorded: Recorded): Promise<RecordAnswer>;
  /** Whether it is still one's own. */
  renew(run: Pick<Claim, 'webhookId' | 'epoch'>): Promise<boolean>;
  /** Whether there is more to send at once. */
  release(release: Release): Promise<boolean>;
};

const RECORDS_AT_ONCE_MAX = 500;

export const openRunLedger = (pool: Pool, patience: Patience): RunLedger => ({
  claim: batched(async (webhookIds) => {
    const claims = await claimRuns(pool, webhookIds);
    return webhookIds.map((webhookId) => {
      const claim = claims.get(webhookId);
      // Of two who ask at the same time, one has it.
      claims.delete(webhookId);
      return claim;
    });
  }),
  take: batched((wanted) => takeDue(pool, wanted)),
  settle: batched((settled) => settleShapes(pool, settled)),
  record: batched((recorded) => recordResults(pool, recorded, patience), RECORDS_AT_ONCE_MAX),
  renew: batched(async (runs) => {
    const renewed = await renewRuns(pool, runs);
    return runs.map(({ webhookId }) => renewed.has(webhookId));
  }),
  release: batched(async (releases) => {
    const due = await releaseRuns(pool, releases);
    return releases.map(({ webhookId }) => due.has(webhookId));
  }),
});
