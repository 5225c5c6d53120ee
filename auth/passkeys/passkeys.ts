// Over 200 lines, because it is one thing: the passkeys of a person, with their statements.
import { randomBytes } from 'node:crypto';
import type { PublicKeyCredentialCreationOptionsJSON, WebAuthnCredential } from '@simplewebauthn/server';
import type { UserId } from '#kernel/base/brands.ts';
import type { SignatureProof } from '#kernel/base/signature.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { seal as sealBytes, unseal } from '#shared/keys/seal.ts';
import { hasOtherWay, type WayToRemove } from '../identities/identity-table.ts';
import { lockPerson } from '../persons/person-table.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import {
  parseAuthentication,
  type RelyingParty,
  registrationOptions,
  verifyAuthentication,
  verifyRegistration,
} from './ceremony.ts';
import {
  deletePasskey,
  deletePasskeysOf,
  insertPasskey,
  notePasskeyUse,
  type PasskeyRow,
  selectPasskeyByCredential,
  selectPasskeysOf,
  updatePasskey,
} from './passkey-table.ts';
import { jwkOf } from './public-jwk.ts';

type Passkey = {
  readonly id: string;
  readonly name: string;
  readonly madeAt: Date;
  readonly usedAt: Date | null;
};

/** Passkeys: their owners sign in without a password and without a user name. */
export type Passkeys = {
  of(userId: UserId): Promise<readonly Passkey[]>;
  /** The options for the browser to make a passkey. */
  optionsFor(userId: UserId, challenge: string): Promise<PublicKeyCredentialCreationOptionsJSON>;
  /** Returns false unless it was made for this challenge on this origin, and if it is registered already. */
  add(userId: UserId, made: Answer & { readonly name: string }, by: SecurityContext): Promise<boolean>;
  rename(userId: UserId, id: string, name: string): Promise<boolean>;
  /** The last way to sign in stays. */
  remove(userId: UserId, asked: WayToRemove, by: SecurityContext): Promise<'removed' | 'absent' | 'last'>;
  /** The person who has signed this challenge. */
  holderOf(answer: Answer, by: Refusing): Promise<Holder | undefined>;
  /** The proof that this person has signed the challenge, in a form that anybody can verify. */
  proofOf(userId: UserId, answer: Answer, by: Refusing): Promise<SignatureProof | undefined>;
};

/** The browser's answer as text, and the challenge that the browser was given. */
type Answer = { readonly credential: string; readonly challenge: string };
type Refusing = Pick<SecurityContext, 'client' | 'requestId'>;
type Holder = { readonly userId: UserId; readonly isSynced: boolean };

type Dependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly record: RecordSecurityEvent;
  readonly readProfile: ReadProfile;
  readonly rp: RelyingParty;
  /** Called after a valid signature of a copied passkey. */
  onRefused(userId: UserId): void;
};

/** Sealed with the person's key. */
type Kept = {
  readonly name: string;
  readonly credentialId: string;
  readonly publicKey: string;
  readonly transports: readonly string[];
  readonly isSynced: boolean;
};

const ID_BYTES = 16;
const CHALLENGE_BYTES = 32;

export const newChallenge = (): string => randomBytes(CHALLENGE_BYTES).toString('base64url');

export const createPasskeys = (dependencies: Dependencies): Passkeys => {
  const { pool, seal, keys, readProfile, rp } = dependencies;
  const opened = (userId: UserId) => openPasskeys(dependencies, userId);
  return {
    of: (userId) => passkeysOf(dependencies, userId),
    async optionsFor(userId, challenge) {
      const { name = '', email = '' } = await readProfile(userId);
      const known = (await opened(userId)).map(({ kept }) => credentialOf(kept));
      return registrationOptions(rp, {
        owner: { handle: handleOf(seal, userId), email, name: name || email },
        challenge,
        known,
      });
    },
    add: (userId, made, by) => add(dependencies, userId, made, by),
    async rename(userId, id, name) {
      const found = (await opened(userId)).find(({ row }) => row.id === id);
      if (found === undefined) return false;
      await updatePasskey(pool, {
        id,
        sealed: await sealed({ keys }, userId, { id, kept: { ...found.kept, name } }),
      });
      return true;
    },
    remove: (userId, asked, by) => remove(dependencies, userId, asked, by),
    async holderOf(answer, by) {
      const verified = await verify(dependencies, answer, by);
      return verified && { userId: verified.userId, isSynced: verified.kept.isSynced };
    },
    async proofOf(userId, answer, by) {
      const verified = await verify(dependencies, answer, by);
      if (verified?.userId !== userId) return undefined;
      const { kept, response } = verified;
      const { authenticatorData, clientDataJSON, signature } = response.response;
      const key = await jwkOf(new Uint8Array(Buffer.from(kept.publicKey, 'base64url')));
      return { means: 'passkey', key, authenticatorData, clientDataJSON, signature };
    },
  };
};

/** Without what signs in. */
export const passkeysOf = async (
  dependencies: Pick<Dependencies, 'pool' | 'keys'>,
  userId: UserId,
): Promise<readonly Passkey[]> =>
  (await openPasskeys(dependencies, userId)).map(({ row: { id, madeAt, usedAt }, kept: { name } }) => ({
    id,
    name,
    madeAt,
    usedAt,
  }));

const remove = async (
  { pool, record }: Pick<Dependencies, 'pool' | 'record'>,
  userId: UserId,
  asked: WayToRemove,
  by: SecurityContext,
): ReturnType<Passkeys['remove']> => {
  const { id: passkeyId } = asked;
  const outcome = await inTransaction(pool, async (connection) => {
    // Of two parallel requests for the last two, one sees that the other has been removed.
    await lockPerson(connection, userId);
    if (!(await hasOtherWay(connection, userId, asked))) return 'last';
    return (await deletePasskey(connection, userId, passkeyId)) ? 'removed' : 'absent';
  });
  if (outcome === 'removed')
    await record({ type: 'account.passkey_removed', data: { userId, passkeyId } }, by);
  return outcome;
};

/** For support actions: also the last way to sign in. Returns whether there were any. */
export const removePasskeysOf = async (
  { pool, record }: Pick<Dependencies, 'pool' | 'record'>,
  userId: UserId,
  by: SecurityContext,
): Promise<boolean> => {
  const removed = await deletePasskeysOf(pool, userId);
  for (const passkeyId of removed)
    await record({ type: 'account.passkey_removed', data: { userId, passkeyId } }, by);
  return removed.length > 0;
};

const add = async (
  { pool, seal, keys, record, rp }: Dependencies,
  userId: UserId,
  { name, credential: text, challenge }: Answer & { readonly name: string },
  by: SecurityContext,
): Promise<boolean> => {
  const registered = await verifyRegistration(rp, text, challenge);
  if (registered === undefined) return false;
  const { credential, isSynced } = registered;
  const id = randomBytes(ID_BYTES).toString('base64url');
  const publicKey = Buffer.from(credential.publicKey).toString('base64url');
  const kept: Kept = {
    name,
    credentialId: credential.id,
    publicKey,
    transports: credential.transports ?? [],
    isSynced,
  };
  const row = { id, userId, credentialHash: hashOf(seal, credential.id), counter: credential.counter };
  const passkey = { ...row, sealed: await sealed({ keys }, userId, { id, kept }) };
  const isAdded = await inTransaction(pool, async (connection) => {
    await lockPerson(connection, userId);
    return insertPasskey(connection, passkey);
  });
  if (!isAdded) return false;
  await record({ type: 'account.passkey_added', data: { userId, passkeyId: id } }, by);
  return true;
};

type Verified = {
  readonly userId: UserId;
  readonly kept: Kept;
  readonly response: NonNullable<ReturnType<typeof parseAuthentication>>;
};

const verify = async (
  { pool, seal, keys, record, rp, onRefused }: Dependencies,
  { credential: text, challenge }: Answer,
  by: Refusing,
): Promise<Verified | undefined> => {
  const response = parseAuthentication(text);
  const row = response && (await selectPasskeyByCredential(pool, hashOf(seal, response.id)));
  if (response === undefined || row === undefined) return undefined;
  const { id, userId } = row;
  const key = (await keys.find([userId])).get(userId);
  if (key === undefined || key === 'destroyed') return undefined;
  const kept = unsealed(key, row);
  if (response.response.userHandle !== handleOf(seal, userId).toString('base64url')) return undefined;
  const counter = await verifyAuthentication(rp, response, { challenge, credential: credentialOf(kept) });
  if (counter === undefined) return undefined;
  if (await notePasskeyUse(pool, id, counter)) return { userId, kept, response };
  // Two authenticators have the same key, so one of them is a copy.
  await record(
    { type: 'account.passkey_refused', data: { userId, passkeyId: id } },
    { ...by, actor: 'anonymous' },
  );
  onRefused(userId);
  return undefined;
};

type Opened = { readonly row: PasskeyRow; readonly kept: Kept };

const openPasskeys = async (
  { pool, keys }: Pick<Dependencies, 'pool' | 'keys'>,
  userId: UserId,
): Promise<readonly Opened[]> => {
  const rows = await selectPasskeysOf(pool, userId);
  const key = rows.length === 0 ? undefined : (await keys.find([userId])).get(userId);
  if (key === undefined || key === 'destroyed') return [];
  return rows.map((row) => ({ row, kept: unsealed(key, row) }));
};

const sealed = async (
  { keys }: Pick<Dependencies, 'keys'>,
  userId: UserId,
  { id, kept }: { readonly id: string; readonly kept: Kept },
): Promise<Buffer> =>
  sealBytes(await keys.obtain(userId), Buffer.from(JSON.stringify(kept)), bindingOf(userId, id));

/** Decrypts data that this code has sealed. */
const unsealed = (key: Parameters<typeof unseal>[0], { userId, id, sealed }: PasskeyRow): Kept =>
  JSON.parse(unseal(key, sealed, bindingOf(userId, id)).toString('utf8')) as Kept;

const bindingOf = (userId: UserId, id: string): string => `passkey:${userId}:${id}`;

const credentialOf = ({ credentialId, publicKey, transports }: Kept): WebAuthnCredential => ({
  id: credentialId,
  publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
  counter: 0,
  transports: [...transports],
});

/**
 * The user handle for authenticators: the same for all passkeys of one person, and it does not identify them.
 */
const handleOf = (seal: RecordSeal, userId: UserId): Buffer => seal.hash('passkey user', String(userId));

const hashOf = (seal: RecordSeal, credentialId: string): Buffer => seal.hash('passkey', credentialId);
