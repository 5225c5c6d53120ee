import type { Pool } from '#shared/database/pool.ts';
import { nextHash } from '#shared/read-log/chain.ts';
import { type ChainOfReads, readChainOfReads, readPageOfEntries } from '#shared/read-log/entries.ts';
import { Findings as KeyFindings } from '../chain/findings.ts';
import { trustedKeys } from '../chain/trusted-keys.ts';
import { headFilesIn, readKeyFile } from '../heads/head-files.ts';
import { readLines } from '../heads/line-file.ts';
import { type AuditKey, isSignedBy, readAuditKeys } from '../stored/signing-keys.ts';
import { parseReadsStatement, parseSignedReads, readSignedReads, readsFileIn } from './signed-reads.ts';

/** One contradiction to the log of reads. `number` is that of an entry. */
export type ReadsFinding =
  /** The entry, or the columns that repeat parts of it, differ from what its hash says. */
  | { readonly kind: 'reads_entry_changed'; readonly number: number }
  /** Entries are missing from this number on. */
  | { readonly kind: 'reads_entry_missing'; readonly number: number }
  /** Entries up to this number were removed, though some of them were not old enough. */
  | { readonly kind: 'reads_expired_early'; readonly number: number }
  /** A signed head covers more entries than there are: the end was cut off. */
  | { readonly kind: 'reads_cut'; readonly number: number; readonly entries: number; readonly source: Source }
  /** A signed head has another hash than the chain, a wrong signature, or is unreadable. */
  | {
      readonly kind: 'reads_head_wrong';
      readonly number: number;
      readonly why: string;
      readonly source: Source;
    };
type Source = 'database' | 'file';

type Checking = {
  readonly pool: Pool;
  readonly auditDir: string;
  /** After how many days this process removes entries; undefined keeps all. */
  readonly keepDays: number | undefined;
  readonly nowMs: number;
};

/**
 * Recomputes the chain of the log of reads, and compares it with its signed heads here and outside the
 * database. It begins again if entries expire meanwhile.
 */
export const checkReads = async (checking: Checking, add: (finding: ReadsFinding) => void): Promise<void> => {
  const { pool, keepDays = null, nowMs } = checking;
  if (!(await hasReadLog(pool))) return;
  for (let attempt = 1; ; attempt += 1) {
    const findings: ReadsFinding[] = [];
    // First, because the log grows meanwhile.
    const heads = await readHeads(checking, (finding) => findings.push(finding));
    const chain = await readChainOfReads(pool);
    await checkChain(pool, { heads, chain }, (finding) => findings.push(finding));
    if (isExpiredEarly(chain, heads, { keepDays, nowMs }))
      findings.push({ kind: 'reads_expired_early', number: chain.expired });
    const { expired } = await readChainOfReads(pool);
    if (expired !== chain.expired && attempt < ATTEMPTS_MAX) continue;
    for (const finding of findings) add(finding);
    return;
  }
};

const ATTEMPTS_MAX = 5;

type Compared = { readonly heads: readonly Head[]; readonly chain: ChainOfReads };

const checkChain = async (
  pool: Pool,
  { heads, chain: { count, hash, expired, expiredHash } }: Compared,
  add: (finding: ReadsFinding) => void,
): Promise<void> => {
  const wanted = new Set([...heads.map(({ reads }) => reads), count]);
  const hashes = new Map([[expired, expiredHash]]);
  let [last, before] = [expired, expiredHash];
  for await (const page of pagesOf(pool, expired, count))
    for (const row of page) {
      const isNext = row.number === last + 1;
      if (!isNext) add({ kind: 'reads_entry_missing', number: last + 1 });
      const isRight = !isNext || nextHash(before, row.number, row.entry).equals(row.hash);
      if (!isRight || !row.isIndexed) add({ kind: 'reads_entry_changed', number: row.number });
      // The next entry is compared with the stored hash, so that one change is one finding.
      [last, before] = [row.number, row.hash];
      if (wanted.has(row.number)) hashes.set(row.number, row.hash);
    }
  if (last < count) add({ kind: 'reads_entry_missing', number: last + 1 });
  else if (!before.equals(hash))
    add({ kind: 'reads_head_wrong', number: count, why: 'hash', source: 'database' });
  for (const { reads, head, source } of heads) {
    if (reads > last) add({ kind: 'reads_cut', number: reads, entries: last, source });
    const found = hashes.get(reads);
    if (found !== undefined && found.toString('hex') !== head)
      add({ kind: 'reads_head_wrong', number: reads, why: 'hash', source });
  }
};

/** Entries of answers that did not wait may be written some time after they were made. */
const LATE_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Keeping = { readonly keepDays: number | null; readonly nowMs: number };

/**
 * The entries after a head are newer than it. If some of them have expired, the head must be older than the shortest
 * retention since then.
 */
const isExpiredEarly = (
  { expired }: ChainOfReads,
  heads: readonly Head[],
  { keepDays, nowMs }: Keeping,
): boolean => {
  let shortestMs = keptMs(keepDays);
  for (const head of heads.toSorted((one, other) => other.atMs - one.atMs)) {
    shortestMs = Math.min(shortestMs, keptMs(head.keepDays));
    if (head.reads < expired && head.atMs > nowMs - shortestMs + LATE_MS) return true;
  }
  return false;
};

/** Heads of former releases do not say it. */
const keptMs = (days: number | null | undefined): number =>
  days === undefined ? 0 : days === null ? Number.POSITIVE_INFINITY : days * DAY_MS;

const hasReadLog = async (pool: Pool): Promise<boolean> =>
  (await pool.query<{ readonly found: boolean }>(`select to_regclass('read_log.head') is not null as found`))
    .rows[0]?.found === true;

const PAGE = 1_000;

async function* pagesOf(pool: Pool, after: number, upTo: number) {
  for (let last = after; last < upTo; ) {
    const page = await readPageOfEntries(pool, { after: last, upTo, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    last = page.at(-1)?.number ?? upTo;
  }
}

type Head = {
  readonly reads: number;
  readonly head: string;
  readonly atMs: number;
  readonly keepDays: number | null | undefined;
  readonly source: Source;
};

const readHeads = async (
  { pool, auditDir }: Pick<Checking, 'pool' | 'auditDir'>,
  add: (finding: ReadsFinding) => void,
): Promise<readonly Head[]> => {
  const file = await Array.fromAsync(readLines(readsFileIn(auditDir)));
  const stored = (await readSignedReads(pool)).map((signed) => JSON.stringify(signed));
  const keys = trustedKeys(
    { given: [], file: await readKeyFile(headFilesIn(auditDir)), database: await readAuditKeys(pool) },
    new KeyFindings(),
  );
  return [
    ...file.map((line) => ['file', line] as const),
    ...stored.map((line) => ['database', line] as const),
  ].flatMap(([source, line]) => {
    const head = headIn(line, keys);
    if (typeof head !== 'string') return [{ ...head, source }];
    add({ kind: 'reads_head_wrong', number: 0, why: head, source });
    return [];
  });
};

const headOf = (says: ReturnType<typeof parseReadsStatement>): Omit<Head, 'source'> => ({
  ...{ reads: says.reads, head: says.head, atMs: Date.parse(says.at) },
  keepDays: says.v === 2 ? says.keepDays : undefined,
});

/** A text says what is wrong with it. */
const headIn = (line: string, keys: ReadonlyMap<string, AuditKey>): Omit<Head, 'source'> | string => {
  try {
    const { statement, signature } = parseSignedReads(line);
    const says = parseReadsStatement(statement);
    const signer = keys.get(says.key);
    if (signer === undefined) return 'unknown key';
    return isSignedBy(signer.publicKey, statement, signature) ? headOf(says) : 'signature';
  } catch {
    return 'unreadable';
  }
};
