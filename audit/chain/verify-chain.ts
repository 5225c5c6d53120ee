import { readBlocks, readChainEnd } from '#shared/audit/blocks.ts';
import { timeOf } from '#shared/audit/position-at.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { hashOf } from '#shared/events/canonical.ts';
import { headFilesIn } from '../heads/head-files.ts';
import { type ChainReport, Findings } from './findings.ts';
import { type Given, openHeadSources } from './head-sources.ts';
import { Walk } from './walk.ts';

export type ChainCheckOptions = {
  readonly pool: Pool;
  /** Where `heads.jsonl` and `keys.jsonl` are. */
  readonly auditDir: string;
  /** What an auditor has kept elsewhere. */
  readonly given?: Given;
};

/** Is fed with all events of the log, from its beginning and in its order, and then asked what it found. */
export type ChainCheck = {
  take(events: readonly RecordedEvent[]): Promise<void>;
  /**
   * `isWhole` where the log was read to the end that it had after the check was begun: only then can
   * something be missing at the end.
   */
  end(options: { readonly isWhole: boolean }): Promise<ChainReport>;
};

const NOTHING_GIVEN: Given = { heads: [], keys: [] };

/**
 * Computes the chain anew from the log, and holds it against the blocks, and against the signed heads in the
 * database, in `AUDIT_DIR`, and in what an auditor has kept. To be begun before the end of the log is asked
 * for, because all of them grow.
 */
export const beginChainCheck = async ({
  pool,
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
    end: ({ isWhole }) => walk.end(isWhole, chained),
  };
};
