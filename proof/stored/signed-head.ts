import * as z from 'zod';
import type { LogIdentity, Position } from '#kernel/base/brands.ts';
import { position } from '#kernel/base/events/fields.ts';
import type { Pool } from '#shared/database/pool.ts';
import { canonical } from './signing-keys.ts';

/** The signed statement about the chain, and about the read model if it has been projected that far. */
export type HeadStatement = {
  readonly v: 1;
  readonly log: LogIdentity;
  /** The number of events that the head covers, and the position of the last one in this log. */
  readonly count: number;
  readonly position: Position;
  /** In hexadecimal. */
  readonly head: string;
  readonly at: string;
  /**
   * The digest of the read model at its own position: it may lag a little behind the chain, or be ahead of
   * it.
   */
  readonly readModel: ReadModelDigest | null;
  /** The id of the key that signs it. */
  readonly key: string;
};

type ReadModelDigest = {
  readonly position: Position;
  /** A fingerprint of the definition of its tables, which may differ between releases. */
  readonly definition: string;
  /** By the names of the tables. */
  readonly digests: Readonly<Record<string, string>>;
};

/** A published head: the signed text, byte by byte, and the signature in base64url. */
export type SignedHead = { readonly statement: string; readonly signature: string };

export const signedHead = z.strictObject({
  statement: z.string(),
  signature: z.string(),
}) satisfies z.ZodType<SignedHead>;

const statement = z.strictObject({
  v: z.literal(1),
  log: z.guid() as unknown as z.ZodType<LogIdentity, string>,
  count: z.int().positive(),
  position,
  head: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
  readModel: z
    .strictObject({ position, definition: z.string(), digests: z.record(z.string(), z.string()) })
    .nullable(),
  key: z.string(),
}) satisfies z.ZodType<HeadStatement, unknown>;

/** RFC 8785, so that anybody can compute the same text. */
export const writeStatement = (head: HeadStatement): string => canonical(head);

/** Throws if it does not have this form. */
export const readStatement = (text: string): HeadStatement => statement.parse(JSON.parse(text));

export type StoredHead = SignedHead & { readonly count: number };

const COLUMNS = `count, statement, translate(encode(signature, 'base64'), E'+/=\\n', '-_') as signature`;

/**
 * Returns whether it is new. Waits for the disk, so that a head that is published afterwards cannot be lost
 * here.
 */
export const insertHead = async (pool: Pool, head: StoredHead, key: string): Promise<boolean> => {
  const { rowCount } = await pool.query(
    'insert into audit.head (count, statement, signature, key_id) values ($1, $2, $3, $4) on conflict do nothing',
    [head.count, head.statement, Buffer.from(head.signature, 'base64url'), key],
  );
  return rowCount === 1;
};

export const readNewestHead = async (pool: Pool): Promise<StoredHead | undefined> => {
  const { rows } = await pool.query<StoredHead>(
    `select ${COLUMNS} from audit.head order by count desc limit 1`,
  );
  return rows[0];
};

/** The heads over more than `after` events, in order. */
export const readHeadsAfter = async (
  pool: Pool,
  after: number,
  limit: number,
): Promise<readonly StoredHead[]> => {
  const { rows } = await pool.query<StoredHead>(
    `select ${COLUMNS} from audit.head where count > $1 order by count limit $2`,
    [after, limit],
  );
  return rows;
};

const HEADS_PAGE = 1_000;

/** The heads over at most `upTo` events, in order. */
export async function* readAllHeads(pool: Pool, upTo = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredHead> {
  for (let after = 0; ; ) {
    const page = await readHeadsAfter(pool, after, HEADS_PAGE);
    yield* page.filter(({ count }) => count <= upTo);
    if (page.length < HEADS_PAGE || (page.at(-1)?.count ?? 0) >= upTo) return;
    after = page.at(-1)?.count ?? after;
  }
}

type Span = {
  readonly log: LogIdentity;
  readonly after: Position;
  readonly upTo: Position;
  readonly limit: number;
};

/** The newest heads that end within a span of this log, in order. */
export const readNewestHeads = async (
  pool: Pool,
  { log, after, upTo, limit }: Span,
): Promise<readonly StoredHead[]> => {
  const { rows } = await pool.query<StoredHead>(
    `select ${COLUMNS} from audit.head
     where statement::json->>'log' = $1::text and (statement::json->>'position')::bigint > $2 and (statement::json->>'position')::bigint <= $3
     order by head.count desc limit $4`,
    [log, after, upTo, limit],
  );
  return rows.toReversed();
};
