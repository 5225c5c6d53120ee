// Over 200 lines, because it is one thing: how the signed heads of all sources are merged and verified.
import { stat } from 'node:fs/promises';
import type { Pool } from '#shared/database/pool.ts';
import { type HeadFiles, LineDamaged, type ReadHead, readHeads, readKeyFile } from '../heads/head-files.ts';
import { readLines } from '../heads/line-file.ts';
import { readPublication } from '../stored/publication.ts';
import { readAllHeads, readStatement, type SignedHead } from '../stored/signed-head.ts';
import { type AuditKey, isSignedBy, readStoredKeys } from '../stored/signing-keys.ts';
import type { Findings, HeadSource } from './findings.ts';
import { trustedKeys } from './trusted-keys.ts';

/** A head with a valid signature. */
export type SourcedHead = ReadHead & { readonly source: HeadSource };

/** All heads from all sources, in order of the number of events they cover. */
export type HeadSources = {
  /** The next heads that cover at most that many events. */
  upTo(count: number): Promise<readonly SourcedHead[]>;
  /** The last remaining head of each source. */
  last(): Promise<readonly SourcedHead[]>;
};

type HeadPlaces = { readonly pool: Pool; readonly files: HeadFiles; readonly given: GivenHeads };

/** Kept by an auditor: lines of `heads.jsonl` and of `keys.jsonl`. */
export type GivenHeads = { readonly heads: readonly string[]; readonly keys: readonly AuditKey[] };

/**
 * Opens all sources in their present state, without later heads. The files are opened before the database,
 * because every head outside was in the database earlier; the heads that must already be outside are
 * determined before that.
 */
export const openHeadSources = async (
  { pool, files, given }: HeadPlaces,
  findings: Findings,
): Promise<HeadSources> => {
  const { due, published } = await readDue(pool);
  const bytes = await stat(files.heads).then(
    ({ size }) => size,
    () => 0,
  );
  const inFile = await readKeyFile(files).catch((error) => damaged(findings, 'file', error));
  const newest = await pool.query<{ count: number | null }>('select max(count) as count from audit.head');
  const { keys: inDatabase, replaced } = await readStoredKeys(pool);
  for (const key of replaced) findings.add({ kind: 'key_not_endorsed', key, source: 'database' });
  const keys = trustedKeys({ given: given.keys, file: inFile ?? [], database: inDatabase }, findings);
  const read = (source: HeadSource, heads: AsyncIterable<ReadHead>) =>
    verified(heads, { source, keys, findings });
  const sources = {
    given: new Peekable(read('given', readHeads(given.heads, 'the heads given'))),
    file: new Peekable(read('file', readHeads(wholeLines(files.heads, bytes), files.heads))),
    database: new Peekable(read('database', parsed(readAllHeads(pool, newest.rows[0]?.count ?? 0)))),
  };
  const isLost = bytes === 0 && published > 0;
  if (isLost) findings.add({ kind: 'head_missing', count: published, source: 'file' });
  const isDue = (count: number) => count <= due && !(isLost && count === published);
  const merging: Merging = { sources, findings, isDue, order: new KeyOrder(keys, findings) };
  return {
    upTo: (count) => takeUpTo(merging, count),
    async last() {
      const rests = await Promise.all([sources.given, sources.file, sources.database].map(takeAll));
      return rests.filter((head) => head !== undefined);
    },
  };
};

type Sources = Readonly<Record<HeadSource, Peekable<SourcedHead>>>;

type Merging = {
  readonly sources: Sources;
  readonly findings: Findings;
  readonly order: KeyOrder;
  /** True if a head of the database over that many events must be outside too. */
  readonly isDue: (count: number) => boolean;
};

/**
 * All heads but the newest are outside, because a head is signed only after the previous one is published;
 * the newest is too if it was recorded as published.
 */
const readDue = async (pool: Pool): Promise<{ readonly due: number; readonly published: number }> => {
  const { count: published } = await readPublication(pool);
  const { rows } = await pool.query<{ count: number }>(
    'select count from audit.head order by count desc offset 1 limit 1',
  );
  return { due: Math.max(rows[0]?.count ?? 0, published), published };
};

const takeUpTo = async (
  { sources, findings, order, isDue }: Merging,
  upTo: number,
): Promise<readonly SourcedHead[]> => {
  const { given, file, database } = sources;
  const heads: SourcedHead[] = [];
  for (;;) {
    const next = await Promise.all([given.peek(), file.peek(), database.peek()]);
    const count = Math.min(...next.map((head) => head?.says.count ?? Number.POSITIVE_INFINITY));
    if (count > upTo || count === Number.POSITIVE_INFINITY) return heads.filter((head) => order.allows(head));
    const [byGiven, byFile, byDatabase] = next.map((head) => (head?.says.count === count ? head : undefined));
    if (byGiven) heads.push(await given.take(byGiven));
    if (byFile) heads.push(await file.take(byFile));
    if (byDatabase) heads.push(await database.take(byDatabase));
    if (byFile && !byDatabase) findings.add({ kind: 'head_missing', count, source: 'database' });
    if (byDatabase && !byFile && (isDue(count) || (await file.peek())))
      findings.add({ kind: 'head_missing', count, source: 'file' });
    if (byDatabase && byFile && byDatabase.statement !== byFile.statement)
      findings.add({ kind: 'head_changed', count, source: 'database' });
  }
};

const takeAll = async (heads: Peekable<SourcedHead>): Promise<SourcedHead | undefined> => {
  let last: SourcedHead | undefined;
  for (let next = await heads.peek(); next; next = await heads.peek()) last = await heads.take(next);
  return last;
};

type Verifying = {
  readonly source: HeadSource;
  readonly keys: ReadonlyMap<string, AuditKey>;
  readonly findings: Findings;
};

async function* verified(
  heads: AsyncIterable<ReadHead>,
  { source, keys, findings }: Verifying,
): AsyncGenerator<SourcedHead> {
  let last = 0;
  try {
    for await (const head of heads) {
      const { count, key } = head.says;
      const known = keys.get(key);
      const refuse = (why: string) => findings.add({ kind: 'head_signature_wrong', count, source, why });
      if (!known) refuse(`no key ${key} is known`);
      else if (!isSignedBy(known.publicKey, head.statement, head.signature))
        refuse('the signature does not match the statement');
      else if (count <= last) refuse('the head covers no more events than the previous one');
      else {
        last = count;
        yield { ...head, source };
      }
    }
  } catch (error) {
    damaged(findings, source, error);
  }
}

/** A key is valid until the next one signs: otherwise the holder of an old key could sign later heads. */
class KeyOrder {
  readonly #keys: readonly string[];
  readonly #findings: Findings;
  #last = 0;

  constructor(keys: ReadonlyMap<string, AuditKey>, findings: Findings) {
    this.#keys = [...keys.keys()];
    this.#findings = findings;
  }

  /** Must be called with heads in order of coverage. */
  allows({ says: { count, key }, source }: SourcedHead): boolean {
    const index = this.#keys.indexOf(key);
    if (index < this.#last)
      this.#findings.add({
        kind: 'head_signature_wrong',
        count,
        source,
        why: 'a later key signed an earlier head',
      });
    this.#last = Math.max(this.#last, index);
    return index === this.#last;
  }
}

/** Nothing after an invalid line counts. */
const damaged = (findings: Findings, source: HeadSource, error: unknown): undefined => {
  if (!(error instanceof LineDamaged)) throw error;
  findings.add({ kind: 'head_unreadable', line: error.line, source });
};

async function* parsed(heads: AsyncIterable<SignedHead>): AsyncGenerator<ReadHead> {
  let line = 0;
  for await (const { statement, signature } of heads) {
    line += 1;
    try {
      yield { statement, signature, says: readStatement(statement) };
    } catch (cause) {
      throw new LineDamaged('audit.head', line, { cause });
    }
  }
}

/** Excludes a line that is being written. */
async function* wholeLines(path: string, bytes: number): AsyncGenerator<string> {
  let left = bytes;
  for await (const line of readLines(path)) {
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) return;
    yield line;
  }
}

/** Reads the next item without consuming it. */
class Peekable<Item> {
  readonly #items: AsyncIterator<Item>;
  #next: Promise<IteratorResult<Item>> | undefined;

  constructor(items: AsyncIterable<Item>) {
    this.#items = items[Symbol.asyncIterator]();
  }

  async peek(): Promise<Item | undefined> {
    this.#next ??= this.#items.next();
    const { done, value } = await this.#next;
    return done ? undefined : value;
  }

  /** Consumes the item that was peeked. */
  async take(item: Item): Promise<Item> {
    this.#next = undefined;
    return item;
  }
}
