import { join } from 'node:path';
import * as z from 'zod';
import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { canonical } from '../stored/signing-keys.ts';

/** The signed statement about the log of reads: how many entries it has had, and the hash of the last. */
type ReadsStatement = {
  readonly v: 2;
  readonly log: LogIdentity;
  readonly reads: number;
  /** In hexadecimal. */
  readonly head: string;
  /** After how many days entries are removed; null if all are kept. */
  readonly keepDays: number | null;
  readonly at: string;
  /** The id of the key that signs it. */
  readonly key: string;
};

const former = z.strictObject({
  v: z.literal(1),
  log: z.guid(),
  reads: z.int().positive(),
  head: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
  key: z.string(),
});
const statement = z.discriminatedUnion('v', [
  former.extend({ v: z.literal(2), keepDays: z.int().positive().nullable() }),
  former,
]);

export type SignedReads = { readonly statement: string; readonly signature: string };
const signedReads = z.strictObject({ statement: z.string(), signature: z.string() });

/** Outside the database, so that access to the database alone does not suffice to change the log of reads. */
export const readsFileIn = (auditDir: string): string => join(auditDir, 'read-log-heads.jsonl');

/** RFC 8785, so that anybody can compute the same text. */
export const writeReadsStatement = (says: ReadsStatement): string => canonical(says);

/** Throws if it does not have this form. */
export const parseReadsStatement = (text: string): z.infer<typeof statement> =>
  statement.parse(JSON.parse(text));
export const parseSignedReads = (line: string): SignedReads => signedReads.parse(JSON.parse(line));

const COLUMNS = `statement, translate(encode(signature, 'base64'), E'+/=\\n', '-_') as signature`;

/** Those over more than `after` entries, in order. */
export const readSignedReads = async (pool: Pool, after = 0): Promise<readonly SignedReads[]> =>
  (
    await pool.query<SignedReads>(
      `select ${COLUMNS} from read_log.signed_head where count > $1 order by count`,
      [after],
    )
  ).rows;

export const readNewestSigned = async (pool: Pool): Promise<number> =>
  (
    await pool.query<{ readonly count: number }>(
      'select coalesce(max(count), 0) as count from read_log.signed_head',
    )
  ).rows[0]?.count ?? 0;

export const insertSigned = async (pool: Pool, count: number, head: SignedReads): Promise<boolean> => {
  const { rowCount } = await pool.query(
    'insert into read_log.signed_head (count, statement, signature) values ($1, $2, $3) on conflict do nothing',
    [count, head.statement, Buffer.from(head.signature, 'base64url')],
  );
  return rowCount === 1;
};
