import { isDeepStrictEqual } from 'node:util';
import type { Pool } from '#shared/database/pool.ts';
import { headReaching } from '#shared/event-log/ask-again.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { headAt, readChainEnd } from '../stored/blocks.ts';
import { insertHead, readAllHeads, type StoredHead } from '../stored/signed-head.ts';
import { type AuditKey, isSignedBy, readAuditKeys } from '../stored/signing-keys.ts';
import {
  appendHeads,
  appendKeys,
  type HeadFiles,
  mendFiles,
  type ReadHead,
  readHeadFile,
  readKeyFile,
} from './head-files.ts';

type Reconciling = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'late'>;
  readonly files: HeadFiles;
};

/** Files and database contradict each other: a person who knows the reason must decide which is right. */
export class HeadsDisagree extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'HeadsDisagree';
  }
}

/** A signed head covers events that the log has lost, or has replaced. */
export class LogWasCut extends HeadsDisagree {
  constructor(message: string) {
    super(message);
    this.name = 'LogWasCut';
  }
}

/** A lost file is rewritten without waiting for the disk after each line. */
const APPENDED_AT_ONCE = 1_000;

/**
 * Reconciles the files outside the database with its heads. A process may have died between writing the two,
 * and the database may have been restored to an earlier time than the log: missing entries are added on
 * either side if they match the chain.
 */
export const reconcile = async (reconciling: Reconciling): Promise<void> => {
  const { pool, files } = reconciling;
  await mendFiles(files);
  const keys = await reconcileKeys(pool, files);
  const stored = readAllHeads(pool);
  let next = await stored.next();
  for await (const head of readHeadFile(files)) {
    const { count } = head.says;
    if (!next.done && next.value.count < count)
      throw new HeadsDisagree(
        `${files.heads} lacks the head over ${next.value.count} events, and has later ones.`,
      );
    if (next.done || next.value.count > count) {
      demandOurs(reconciling, head);
      await restore(reconciling, keys, head);
    } else {
      demandSame(files, head, next.value);
      next = await stored.next();
    }
  }
  while (!next.done) {
    const missing: StoredHead[] = [];
    for (; !next.done && missing.length < APPENDED_AT_ONCE; next = await stored.next())
      missing.push(next.value);
    await appendHeads(files, missing);
  }
};

/**
 * Checks only heads that the database lacks. Heads in the database are ours, even if the log was copied
 * since, which changes its identity.
 */
const demandOurs = ({ eventLog, files }: Reconciling, { says: { log } }: ReadHead): void => {
  if (log !== eventLog.identity)
    throw new HeadsDisagree(
      `${files.heads} belongs to the event log ${log}: move it away, or set AUDIT_DIR to a folder of this log.`,
    );
};

const demandSame = (files: HeadFiles, head: ReadHead, known: StoredHead): void => {
  if (known.statement !== head.statement || known.signature !== head.signature)
    throw new HeadsDisagree(
      `${files.heads} and the database have different heads over ${known.count} events.`,
    );
};

const reconcileKeys = async (pool: Pool, files: HeadFiles): Promise<readonly AuditKey[]> => {
  const inDatabase = await readAuditKeys(pool);
  const inFile = await readKeyFile(files);
  for (const key of inFile) {
    const known = inDatabase.find(({ id }) => id === key.id);
    if (!known)
      throw new HeadsDisagree(`${files.keys} has a key that the database does not have: ${key.id}.`);
    if (!isDeepStrictEqual(known, key))
      throw new HeadsDisagree(
        `${files.keys} and the database contradict each other about the key ${key.id}.`,
      );
  }
  const missing = inDatabase.filter(({ id }) => !inFile.some((key) => key.id === id));
  await appendKeys(files, missing);
  return inDatabase;
};

/** Restores a head that the database has lost; the chain must confirm it. */
const restore = async (
  { pool, eventLog, files }: Reconciling,
  keys: readonly AuditKey[],
  { says, ...head }: ReadHead,
): Promise<void> => {
  const { count, key } = says;
  const publicKey = keys.find(({ id }) => id === key)?.publicKey;
  if (!publicKey || !isSignedBy(publicKey, head.statement, head.signature))
    throw new HeadsDisagree(`${files.heads} has a head over ${count} events that none of our keys signed.`);
  // Read before, because the chain may reach the head meanwhile, and then looks as if it ended without it.
  const { position } = await readChainEnd(pool);
  const found = await headAt(pool, count);
  if (!found) {
    const isBehind = position < (await headReaching(eventLog, says.position));
    throw isBehind
      ? new ChainBehind(count)
      : new LogWasCut(
          `${files.heads} has a head over ${count} events, but the event log has fewer: its end was cut off.`,
        );
  }
  if (found.toString('hex') !== says.head)
    throw new LogWasCut(
      `${files.heads} has a head over ${count} events, but the chain has a different one there.`,
    );
  const stored: StoredHead = { ...head, count };
  await insertHead(pool, stored, key);
};

/** No fault: the chain is still being built up to the heads in the files. */
export class ChainBehind extends Error {
  constructor(count: number) {
    super(`The chain does not yet reach the ${count} events that a head outside the database covers.`);
    this.name = 'ChainBehind';
  }
}
