import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { migrateLeases, runUnderLease } from '#shared/database/lease/lease.ts';
import type { Log } from '#shared/log.ts';
import { readChainOfReads } from '#shared/read-log/entries.ts';
import { migrateReadLog } from '#shared/read-log/migrate.ts';
import { appendLines, mendFile, readLines } from '../heads/line-file.ts';
import { type AuditKeyDependencies, openSigner } from '../stored/signing-keys.ts';
import {
  insertSigned,
  parseReadsStatement,
  parseSignedReads,
  readNewestSigned,
  readSignedReads,
  readsFileIn,
  writeReadsStatement,
} from './signed-reads.ts';

type Dependencies = AuditKeyDependencies & {
  readonly eventLog: { readonly identity: LogIdentity };
  readonly auditDir: string;
  readonly everyMs: number;
  /** After how many days entries are removed; undefined keeps all. */
  readonly keepDays: number | undefined;
  readonly log: Log;
  readonly clock: Clock;
};

/** On shutdown, an unresponsive database is not waited for: the next process signs the rest. */
const LAST_MAX_MS = 2_000;

/** Signs the head of the log of reads periodically and on shutdown, in one process at a time. */
export const startSigningReads = async (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { pool, log, clock, everyMs } = dependencies;
  await migrateLeases(pool);
  await migrateReadLog(pool);
  const stopping = new AbortController();
  const onFailure = (err: unknown) => log.error({ err }, 'The head of the log of reads cannot be signed.');
  const work = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    let isWhole = false;
    const signAll = async (): Promise<void> => {
      try {
        if (!isWhole) await mendReadsFile(dependencies);
        isWhole = false;
        await signReads(dependencies);
        isWhole = true;
      } catch (error) {
        onFailure(error);
      }
    };
    while (!signal.aborted) {
      await signAll();
      await clock.sleep(everyMs, signal);
    }
    if (stopping.signal.aborted)
      await Promise.race([signAll(), clock.sleep(LAST_MAX_MS, undefined, { ref: false })]);
  };
  const running = runUnderLease({ pool, name: 'read-log-heads', clock, onFailure }, work, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
};

/** In the database first: after a crash in between, `mendReadsFile` adds it to the file. */
export const signReads = async (dependencies: Dependencies): Promise<void> => {
  const { pool, eventLog, auditDir, clock, keepDays = null } = dependencies;
  const { count, hash } = await readChainOfReads(pool);
  if (count <= (await readNewestSigned(pool))) return;
  const signer = await openSigner(dependencies);
  const statement = writeReadsStatement({
    ...{ v: 2, log: eventLog.identity, reads: count, head: hash.toString('hex'), keepDays },
    ...{ at: new Date(clock.nowMs()).toISOString(), key: signer.key },
  });
  const signed = { statement, signature: signer.sign(statement) };
  if (await insertSigned(pool, count, signed))
    await appendLines(readsFileIn(auditDir), [JSON.stringify(signed)]);
};

/** Adds the heads that a crash, or a full disk, has kept from the file. */
export const mendReadsFile = async ({
  pool,
  auditDir,
}: Pick<Dependencies, 'pool' | 'auditDir'>): Promise<void> => {
  const file = readsFileIn(auditDir);
  await mendFile(file);
  let newest = 0;
  for await (const line of readLines(file))
    newest = parseReadsStatement(parseSignedReads(line).statement).reads;
  const missing = await readSignedReads(pool, newest);
  await appendLines(
    file,
    missing.map((signed) => JSON.stringify(signed)),
  );
};
