import { join } from 'node:path';
import { expect } from 'vitest';
import { START } from '#shared/event-log/event-log.ts';
import { computeDigest, readKeptDigest } from '#shared/projection/kept-digest.ts';
import type { ChainReport } from '../../proof/chain/findings.ts';
import { beginChainCheck } from '../../proof/chain/verify-chain.ts';
import { readChainEnd } from '../../proof/stored/blocks.ts';
import { until } from '../../testing/until.ts';
import type { CommandDatabase, CommandSide } from './command-side.ts';
import { tables } from './tables.ts';

type Running = { readonly database: CommandDatabase; readonly side: CommandSide };

/**
 * At rest, the log, the chain, the heads in both places, and the read model agree. Returns how much the heads
 * outside cover.
 */
export const expectProven = async ({
  database,
  side: { pool, eventLog, masterKey },
}: Running): Promise<ChainReport> => {
  const head = await eventLog.head();
  await until(
    () => readChainEnd(pool),
    ({ position }) => position === head,
    30_000,
  );
  const auditDir = join(database.settings.DATA_DIR ?? '', 'audit');
  const checking = await beginChainCheck({ pool, eventLog, masterKey, auditDir });
  for await (const events of eventLog.follow(START, new AbortController().signal)) {
    await checking.take(events);
    if ((events.at(-1)?.position ?? START) >= head) break;
  }
  const report = await checking.end({ isWhole: true });
  expect(report.findings).toEqual([]);
  expect((await readKeptDigest(pool))?.digests).toEqual(await computeDigest(pool, tables, 'read_model'));
  // The trigger by which a test records the moves of followers is none of ours.
  const { rows } = await pool.query(
    `select * from audit.watch_difference where not (kind = 'schema_extra' and fields::text like '%record_move%')`,
  );
  expect(rows).toEqual([]);
  return report;
};
