import { createSecretKey } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Clock } from '#shared/clock/clock.ts';
import { repeat } from '#shared/clock/repeat.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { Log } from '#shared/log.ts';
import { insertKey, type KeyRow, lockKeys, selectPublishedKeys } from './statements.ts';

/** The currently published private keys; the first one signs. */
export type SigningKeys = readonly JWK[];

export const ALGORITHM = 'ES256';

/** Long enough for every process and every cache of the public keys to see a new key before it signs. */
export const OVERLAP_S = 600;

type SigningKeyDependencies = { readonly pool: Pool; readonly masterKey: MasterKey };

/** The keys that verify tokens still in use, and those that will sign soon. */
export const readSigningKeys = async ({ pool, masterKey }: SigningKeyDependencies): Promise<SigningKeys> =>
  (await selectPublishedKeys(pool)).map((row) => openKey(masterKey, row));

type Rotation = { readonly kid: string; readonly signsFrom: Date };

/**
 * Makes a new key. It is published at once and signs after the overlap; the former key stays published until
 * the tokens it signed have expired. The very first key signs at once.
 */
export const rotateSigningKeys = async (
  { pool, masterKey }: SigningKeyDependencies,
  { overlapS = OVERLAP_S }: { readonly overlapS?: number } = {},
): Promise<Rotation> =>
  inTransaction(pool, async (connection) => {
    const isFirst = (await lockKeys(connection)) === 0;
    return addKey(connection, masterKey, isFirst ? 0 : overlapS);
  });

/** Creates the first key if there is none, and returns whether it did; of several processes, one does. */
export const ensureSigningKey = async ({ pool, masterKey }: SigningKeyDependencies): Promise<boolean> =>
  inTransaction(pool, async (connection) => {
    if ((await lockKeys(connection)) > 0) return false;
    await addKey(connection, masterKey, 0);
    return true;
  });

export const hasSigningKey = async (pool: Pool): Promise<boolean> =>
  (await selectPublishedKeys(pool)).length > 0;

const addKey = async (connection: Connection, masterKey: MasterKey, overlapS: number): Promise<Rotation> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  const kid = await calculateJwkThumbprint(jwk);
  const sealed = seal(
    sealingKey(masterKey),
    Buffer.from(JSON.stringify({ ...jwk, kid, alg: ALGORITHM, use: 'sig' })),
    bindingOf(kid),
  );
  return { kid, signsFrom: await insertKey(connection, { kid, sealed }, overlapS) };
};

const openKey = (masterKey: MasterKey, { kid, sealed }: KeyRow): JWK =>
  // Decrypts data that this code has sealed.
  JSON.parse(unseal(sealingKey(masterKey), sealed, bindingOf(kid)).toString('utf8')) as JWK;

const sealingKey = (masterKey: MasterKey) => createSecretKey(deriveKey(masterKey, 'signing-key'));

const bindingOf = (kid: string): string => `signing-key:${kid}`;

/** Far less than the time for which a new key is published before it signs. */
const POLL_MS = 10_000;

type Following = SigningKeyDependencies & {
  readonly log: Log;
  readonly clock: Clock;
  readonly pollMs?: number | undefined;
  /** Called with the first keys, and then after every change. */
  onKeys(keys: SigningKeys): void;
};

/** Keeps a process's keys up to date. The first read must succeed; later failures keep the current keys. */
export const followSigningKeys = async ({
  log,
  clock,
  pollMs = POLL_MS,
  onKeys,
  ...dependencies
}: Following): Promise<AsyncDisposable> => {
  let known = await readSigningKeys(dependencies);
  onKeys(known);
  const look = async () => {
    const keys = await readSigningKeys(dependencies);
    if (namesOf(keys) === namesOf(known)) return;
    known = keys;
    onKeys(keys);
    log.info({ signer: keys[0]?.kid, published: keys.length }, 'The signing keys have changed.');
  };
  return repeat({
    work: look,
    wait: (signal) => clock.sleep(pollMs, signal),
    waitsFirst: true,
    onFailure: (err) => log.warn({ err }, 'The signing keys could not be read.'),
  });
};

const namesOf = (keys: SigningKeys): string => keys.map(({ kid }) => kid).join(' ');
