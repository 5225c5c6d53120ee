import type { Pool } from '#shared/database/pool.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { timeOf } from '#shared/event-log/time-of.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { headFilesIn } from '../heads/head-files.ts';
import { readBlocks, readChainEnd } from '../stored/blocks.ts';
import { hashOf } from '../stored/canonical.ts';
import { checkTree } from './check-tree.ts';
import { type ChainReport, Findings } from './findings.ts';
import { type GivenHeads, openHeadSources } from './head-sources.ts';
import { Walk } from './walk.ts';

export type ChainCheckOptions = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Derives the salts of the tree. */
  readonly masterKey: MasterKey;
  /** The folder of `heads.jsonl` and `keys.jsonl`. */
  readonly auditDir: string;
  /** Copies that an auditor has kept elsewhere. */
  readonly given?: GivenHeads;
};

/** Takes all events of the log from the start, in order, and then returns its findings. */
export type ChainCheck = {
  take(events: readonly RecordedEvent[]): Promise<void>;
  /**
   * `isWhole` if the log was read to the end that it had after the check started: only then can events be
   * missing at the end.
   */
  end(options: { readonly isWhole: boolean }): Promise<ChainReport>;
};

const NOTHING_GIVEN: GivenHeads = { heads: [], keys: [] };

/**
 * Recomputes the chain from the log, and compares it with the blocks, and with the signed heads in the
 * database, in `AUDIT_DIR`, and in an auditor’s copy. Must start before the end of the log is determined,
 * because all of them grow.
 */
export const beginChainCheck = async ({
  pool,
  eventLog,
  masterKey,
  auditDir,
  given = NOTHING_GIVEN,
}: ChainCheckOptions): Promise<ChainCheck> => {
  const findings = new Findings();
  const heads = await openHeadSources({ pool, files: headFilesIn(auditDir), given }, findings);
  const { count: chained } = await readChainEnd(pool);
  const walk = new Walk(findings, heads, readBlocks(pool, { upTo: chained }));
  return {
    async take(events) {
      for (const event of events) {
        const { position, stream, version } = event;
        await walk.step({ position, stream, version, hash: hashOf(event), at: timeOf(event) });
      }
    },
    async end({ isWhole }) {
      const report = await walk.end(isWhole, chained);
      // A tree over wrong blocks says nothing about its tiles.
      if (!isWhole || findings.hasBlocks) return report;
      await checkTree({ pool, masterKey, auditDir, log: eventLog.identity }, findings);
      return { ...report, findings: findings.listed, findingsTotal: findings.total };
    },
  };
};
