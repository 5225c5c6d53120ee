import { randomUUID } from 'node:crypto';
import type { Position } from '#kernel/base/brands.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { findNoted } from '#shared/event-log/demand-newest.ts';
import { START } from '#shared/event-log/event-log.ts';
import { noteFileIn } from '#shared/event-log/newest-note.ts';
import { findStandstills } from '#shared/follower/standstill.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import type { Mark } from '#shared/read-model/scratch-schemas.ts';
import type { Report } from '#shared/rest/verification-report.ts';
import { beginChainCheck } from '../chain/verify-chain.ts';
import { compareDerived, findRowsOfNoEvent } from '../derived/compare-derived.ts';
import { checkReads } from '../reads/check-reads.ts';
import { compareSchema } from '../schema/compare-schema.ts';
import { checkFiles } from './check-files.ts';
import { checkSnapshots } from './check-snapshots.ts';
import { readingAroundCuts, reportCutStreams } from './cut-streams.ts';
import { readSkipped } from './exceptions.ts';
import { findUnreadEvents } from './find-unread-events.ts';
import { createFindings, type Findings } from './findings.ts';
import { createFold } from './fold.ts';
import { createFoldTables } from './fold-tables.ts';
import { createPassage } from './passage.ts';
import { planOf, type Verification } from './plan.ts';
import { checkPositions, createPositions } from './positions.ts';
import type { Proving } from './proving.ts';
import { readLog } from './read-log.ts';
import { checkReadModel } from './read-model.ts';
import { makeScratch } from './scratch.ts';

/**
 * Skips by operators within this time before the start are considered again, because the server’s clock may
 * be behind.
 */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Proves that the read model follows from the log, and that the log was not changed, or reports where not.
 * Reads the log once, rebuilds the read model beside the live one, and compares everything. Reads and writes
 * continue, and nothing live is changed.
 */
export const verify = async (verification: Verification): Promise<Report> => {
  const startedAt = new Date();
  const startedMs = performance.now();
  try {
    const checked = await checkAll(verification, new Date(startedAt.getTime() - CLOCKS_DIFFER_MS));
    const outcome = checked.findings.total === 0 ? 'proven' : 'different';
    return {
      v: 1,
      outcome,
      startedAt: startedAt.toISOString(),
      tookMs: Math.round(performance.now() - startedMs),
      ...checked,
    };
  } catch (error) {
    throw verification.signal.aborted ? new Stopped() : error;
  }
};

type Checked = Omit<Report, 'v' | 'outcome' | 'startedAt' | 'tookMs'>;

const checkAll = async (given: Verification, since: Date): Promise<Checked> => {
  const verification = { ...given, eventLog: readingAroundCuts(given.eventLog) };
  const { pool, eventLog, tables } = verification;
  await migrateAudit(pool);
  const chain = await beginChainCheck(verification);
  const plan = await planOf(verification);
  const findings = createFindings();
  for (const finding of plan.findings) findings.add(finding);
  const schema = `verify_${randomUUID().replaceAll('-', '')}`;
  const mark: Mark = {
    use: 'verify',
    log: eventLog.identity,
    position: plan.upTo,
    madeAt: new Date().toISOString(),
    isWhole: false,
  };
  await using _scratch = await makeScratch(verification, schema, mark);
  await inTransaction(pool, async (connection) => {
    await createPositions(connection, schema);
    await createFoldTables(connection, tables, schema);
  });
  let isSkippedNow = await readSkipped(pool);
  const isSkipped: typeof isSkippedNow = (event) => isSkippedNow(event);
  const fold = createFold({ pool, tables, schema, isSkipped });
  const passage = createPassage({
    ...{ pool, tables, schema, chain, fold, findings, isSkipped },
    compareDerived: async (stretch) =>
      verification.isOfReadModel ? compareDerived(verification, stretch) : [],
  });
  const proving: Proving = {
    ...{ verification, schema, fold, passage, findings, since, holes: new Set() },
    takeUpTo: (upTo, isOfReadModel) => takeUpTo(proving, upTo, isOfReadModel),
    reloadSkipped: async () => {
      isSkippedNow = await readSkipped(pool);
    },
  };
  const readModel = await checkReadModel(proving, plan);
  // The projector may lag: the rest of the log is checked too.
  await takeUpTo(proving, plan.end, false);
  for (const finding of await findUnreadEvents(eventLog)) findings.add(finding);
  if (plan.isLive) await reportStall(verification, findings);
  if (verification.isOfReadModel && plan.isWhole) {
    verification.onProgress({ step: 'check', what: 'rows about events that are not in the log' });
    for (const finding of await findRowsOfNoEvent(verification)) findings.add(finding);
  }
  verification.onProgress({ step: 'check', what: 'the schema of the database' });
  for (const finding of await compareSchema(verification)) findings.add(finding);
  verification.onProgress({ step: 'check', what: 'snapshots of long streams' });
  await checkSnapshots(proving);
  verification.onProgress({ step: 'check', what: 'versions and ids of the events' });
  await reportCutStreams(given, findings);
  await inTransaction(pool, (connection) => checkPositions(connection, schema, findings));
  const files = await compareFiles(verification, findings);
  const { head, chained, signed, unproven, ...chainFound } = await chain.end({
    isWhole: passage.position() >= plan.end && plan.isWhole,
  });
  for (const finding of chainFound.findings) findings.add(finding);
  await checkNewest(verification, findings);
  await checkLogOfReads(verification, findings);
  return {
    log: { identity: eventLog.identity, position: passage.position(), events: passage.events() },
    ...readModel,
    ...files,
    chain: { head, chained, signed, unproven },
    findings: findings.summary(),
  };
};

const checkLogOfReads = async (verification: Verification, findings: Findings): Promise<void> => {
  const { clock, keepReadsDays: keepDays } = verification;
  const nowMs = Date.now() + (clock?.aheadMs() ?? 0);
  await checkReads({ ...verification, keepDays, nowMs }, (finding) => findings.add(finding));
};

/** The live rows, which name the files, have been compared with the log. */
const compareFiles = async (
  { pool, tables, blobs, signal, onProgress }: Verification,
  findings: Findings,
): Promise<Pick<Checked, 'files'>> => {
  if (blobs === undefined) return {};
  onProgress({ step: 'check', what: 'the content of files' });
  return { files: { compared: await checkFiles({ pool, tables, blobs, findings, signal }) } };
};

/** A lagging projector that moves will reach the events that were not compared; a stalled one will not. */
const reportStall = async ({ pool, eventLog }: Verification, findings: Findings): Promise<void> => {
  const found = (await findStandstills({ pool, eventLog }, [{ name: PROJECTOR }])).get(PROJECTOR);
  if (found === undefined) return;
  const { head, position, seconds } = found;
  findings.add({ kind: 'read_model_stands_still', head, readModel: position, seconds: Math.floor(seconds) });
};

const takeUpTo = async (
  { verification, passage, findings, holes }: Proving,
  upTo: Position,
  isOfReadModel: boolean,
): Promise<void> => {
  const { eventLog, codec, tables, signal, pause, onProgress } = verification;
  const onHole = ({ after, found }: { after: Position; found: Position }) => {
    if (!holes.has(after)) findings.add({ kind: 'position_gap', after, found });
    holes.add(after);
  };
  let beganMs = performance.now();
  for await (const page of readLog(
    { eventLog, codec, tables, signal, onHole },
    { after: passage.position(), upTo },
  )) {
    await passage.take(page, isOfReadModel);
    await pause?.(performance.now() - beganMs);
    beganMs = performance.now();
    onProgress({ step: 'events', events: passage.events(), position: passage.position(), from: START, upTo });
  }
};

/**
 * The newest event that a process has noted outside of the database must be in the log: heads are signed
 * less often, so its end could be cut off after the newest one.
 */
const checkNewest = async (
  { eventLog, auditDir }: Pick<Verification, 'eventLog' | 'auditDir'>,
  findings: Findings,
): Promise<void> => {
  const note = await noteFileIn(auditDir, eventLog.identity).read();
  if (!note) return;
  const found = await findNoted(eventLog, note);
  if (found !== note.id)
    findings.add({ kind: 'newest_event_missing', position: note.position, event: note.id });
};
