import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import canonicalize from 'canonicalize';
import * as z from 'zod';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { seal, unseal } from '#shared/keys/seal.ts';

/** An Ed25519 key as RFC 8037 writes it. */
export type PublicKey = { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string };

/** The public part of a key that signs heads. */
export type AuditKey = {
  /** The thumbprint of the public key (RFC 7638). */
  readonly id: string;
  readonly publicKey: PublicKey;
  readonly madeAt: string;
  /** The key before it, which has signed `endorsementText`; null for the first. */
  readonly endorsedBy: string | null;
  readonly endorsement: string | null;
};

export const auditKey = z.strictObject({
  id: z.string(),
  publicKey: z.strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() }),
  madeAt: z.string(),
  endorsedBy: z.string().nullable(),
  endorsement: z.string().nullable(),
}) satisfies z.ZodType<AuditKey>;

export type AuditKeyDependencies = { readonly pool: Pool; readonly masterKey: MasterKey };

export type Signer = { readonly key: string; readonly publicKey: PublicKey; sign(text: string): string };

/** Signs with the newest key, and creates the first one if there is none. Signatures are in base64url. */
export const openSigner = ({ pool, masterKey }: AuditKeyDependencies): Promise<Signer> =>
  inTransaction(pool, async (connection) => {
    const newest = (await lockNewest(connection)) ?? (await addKey(connection, masterKey, undefined));
    return signerOf(masterKey, newest);
  });

export const signerOf = (masterKey: MasterKey, row: KeyRow): Signer => {
  const privateKey = openKey(masterKey, row);
  const publicKey = auditKey.shape.publicKey.parse(createPublicKey(privateKey).export({ format: 'jwk' }));
  return { key: row.id, publicKey, sign: (text) => signBy(privateKey, text) };
};

export const NEWEST_KEY = 'select id, sealed from audit.signing_key order by number desc limit 1';

/** Creates a new key, endorsed by the one before it, which signs from the next head on. */
export const rotateAuditKey = ({ pool, masterKey }: AuditKeyDependencies): Promise<string> =>
  inTransaction(
    pool,
    async (connection) => (await addKey(connection, masterKey, await lockNewest(connection))).id,
  );

/**
 * All keys so far, in order. Rows that contain no key any more are omitted, so that what they signed is
 * reported as signed by an unknown key.
 */
export const readAuditKeys = async (pool: Pool): Promise<readonly AuditKey[]> =>
  (await readStoredKeys(pool)).keys;

type StoredKeys = {
  readonly keys: readonly AuditKey[];
  /** The ids of rows that contain no key any more. */
  readonly replaced: readonly string[];
};

export const readStoredKeys = async (pool: Pool): Promise<StoredKeys> => {
  const { rows } = await pool.query<KeyText>(
    `select id, public_key as "publicKey", made_at as "madeAt", endorsed_by as "endorsedBy",
       translate(encode(endorsement, 'base64'), E'+/=\\n', '-_') as endorsement
     from audit.signing_key order by number`,
  );
  const read = rows.map((row) => ({ id: row.id, key: parseStored(row) }));
  return {
    keys: read.flatMap(({ key }) => key ?? []),
    replaced: read.flatMap(({ id, key }) => (key === undefined ? [id] : [])),
  };
};

type KeyText = Omit<AuditKey, 'publicKey' | 'madeAt'> & {
  readonly publicKey: string;
  readonly madeAt: Date;
};

const parseStored = ({ publicKey, madeAt, ...key }: KeyText): AuditKey | undefined => {
  try {
    return auditKey.parse({ ...key, publicKey: JSON.parse(publicKey), madeAt: madeAt.toISOString() });
  } catch {
    return undefined;
  }
};

/** The text that the key before it has signed: this key continues where that one ends. */
export const endorsementText = ({
  id,
  publicKey,
  madeAt,
  endorsedBy,
}: Omit<AuditKey, 'endorsement'>): string =>
  canonical({ v: 1, endorses: id, publicKey, madeAt, key: endorsedBy });

/** The thumbprint of RFC 7638, whose form of a key is that of RFC 8785. */
export const thumbprint = ({ kty, crv, x }: PublicKey): string =>
  createHash('sha256').update(canonical({ kty, crv, x })).digest('base64url');

export const isSignedBy = (publicKey: PublicKey, text: string, signature: string): boolean => {
  try {
    const key = createPublicKey({ key: publicKey, format: 'jwk' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
};

export const canonical = (value: object): string => canonicalize(value) as string;

const signBy = (key: KeyObject, text: string): string =>
  sign(null, Buffer.from(text), key).toString('base64url');

export type KeyRow = { readonly id: string; readonly sealed: Buffer };

/** Of several processes that want a new key, one creates it. */
const lockNewest = async (connection: Connection): Promise<KeyRow | undefined> => {
  await connection.query(`select pg_advisory_xact_lock(hashtext('annals audit key'))`);
  const { rows } = await connection.query<KeyRow>(NEWEST_KEY);
  return rows[0];
};

const addKey = async (
  connection: Connection,
  masterKey: MasterKey,
  before: KeyRow | undefined,
): Promise<KeyRow> => {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = auditKey.shape.publicKey.parse(pair.publicKey.export({ format: 'jwk' }));
  const id = thumbprint(publicKey);
  const key = { id, publicKey, madeAt: new Date().toISOString(), endorsedBy: before?.id ?? null };
  const endorsement = before
    ? Buffer.from(signBy(openKey(masterKey, before), endorsementText(key)), 'base64url')
    : null;
  const sealed = seal(
    sealingKey(masterKey),
    pair.privateKey.export({ format: 'der', type: 'pkcs8' }),
    bindingOf(id),
  );
  await connection.query(
    'insert into audit.signing_key (id, public_key, sealed, made_at, endorsed_by, endorsement) values ($1, $2, $3, $4, $5, $6)',
    [id, canonical(publicKey), sealed, key.madeAt, key.endorsedBy, endorsement],
  );
  return { id, sealed };
};

const openKey = (masterKey: MasterKey, { id, sealed }: KeyRow): KeyObject =>
  createPrivateKey({
    key: unseal(sealingKey(masterKey), sealed, bindingOf(id)),
    format: 'der',
    type: 'pkcs8',
  });

const sealingKey = (masterKey: MasterKey) => createSecretKey(deriveKey(masterKey, 'audit-key'));

const bindingOf = (id: string): string => `audit-key:${id}`;
