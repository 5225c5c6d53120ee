// Over 200 lines, because it is one thing: the accounts of a person at identity providers.
import { randomBytes } from 'node:crypto';
import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { seal as sealBytes, unseal } from '#shared/keys/seal.ts';
import { lockPerson } from '../persons/person-table.ts';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import type { RecordSeal } from '../storage/seal-record.ts';
import {
  beginIdentity,
  deleteIdentity,
  hasOtherWay,
  type IdentityRow,
  insertIdentity,
  isIdentityBegun,
  noteIdentityUse,
  selectIdentitiesOf,
  selectIdentityByHash,
  type WayToRemove,
} from './identity-table.ts';

/** A person at an identity provider: the subject is theirs among all accounts of the issuer. */
export type Subject = { readonly issuer: string; readonly subject: string };

/** Sealed with the person's key. */
type Kept = Subject & { readonly shownAs: string };

export type LinkedIdentity = {
  readonly id: string;
  readonly upstream: string;
  /** The address or the name there, when it was linked. */
  readonly shownAs: string;
  readonly linkedAt: Date;
  readonly usedAt: Date | null;
};

/** `by`: the person linked it, it has the address of their account, or their account was created for it. */
type NewLink = Kept & { readonly upstream: string; readonly by: 'user' | 'email' | 'creation' };

/** Accounts at identity providers with which people sign in. */
export type Identities = {
  of(userId: UserId): Promise<readonly LinkedIdentity[]>;
  /** The person who signs in with it, and notes that they do. */
  holderOf(subject: Subject): Promise<UserId | undefined>;
  /** The id under which its account is created, the same for each attempt; undefined if it is linked by now. */
  begin(subject: Subject, upstream: string): Promise<string | undefined>;
  /** Whether an account is being created for it. */
  isBegun(subject: Subject): Promise<boolean>;
  /** `taken`: another person has it; `refused`: this one has too many, or was deleted. */
  link(
    userId: UserId,
    link: NewLink,
    by: SecurityContext,
  ): Promise<'linked' | 'there_already' | 'taken' | 'refused'>;
  /** `upstreams`: those that are in use. The last way to sign in stays. */
  unlink(userId: UserId, asked: WayToRemove, by: SecurityContext): Promise<'unlinked' | 'absent' | 'last'>;
  /** For administrators: also the last way to sign in. Returns whether the person had it. */
  remove(userId: UserId, id: string, by: SecurityContext): Promise<boolean>;
};

type Dependencies = {
  readonly pool: Pool;
  readonly seal: RecordSeal;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly record: RecordSecurityEvent;
};

const ID_BYTES = 16;

export const createIdentities = (dependencies: Dependencies): Identities => {
  const { pool, seal } = dependencies;
  return {
    of: (userId) => identitiesOf(dependencies, userId),
    holderOf: (subject) => holderOf(dependencies, subject),
    begin: (subject, upstream) =>
      beginIdentity(pool, { id: newId(), upstream, identityHash: hashOf(seal, subject) }),
    isBegun: (subject) => isIdentityBegun(pool, hashOf(seal, subject)),
    link: (userId, link, by) => linkTo(dependencies, userId, link, by),
    unlink: (userId, asked, by) => unlinkFrom(dependencies, userId, asked, by),
    remove: (userId, id, by) => removeIdentity(dependencies, userId, id, by),
  };
};

export const identitiesOf = async (
  dependencies: Pick<Dependencies, 'pool' | 'keys'>,
  userId: UserId,
): Promise<readonly LinkedIdentity[]> =>
  (await openedOf(dependencies, userId)).map(({ row, kept }) => ({
    id: row.id,
    upstream: row.upstream,
    shownAs: kept.shownAs,
    linkedAt: row.linkedAt,
    usedAt: row.usedAt,
  }));

const newId = (): string => randomBytes(ID_BYTES).toString('base64url');

const holderOf = async (
  { pool, seal, keys }: Dependencies,
  subject: Subject,
): Promise<UserId | undefined> => {
  const row = await selectIdentityByHash(pool, hashOf(seal, subject));
  if (row === undefined) return undefined;
  const key = (await keys.find([row.userId])).get(row.userId);
  if (key === undefined || key === 'destroyed') return undefined;
  // Only a process with the keys can have linked it to this person.
  const kept = unsealed(key, row);
  if (kept.issuer !== subject.issuer || kept.subject !== subject.subject) return undefined;
  await noteIdentityUse(pool, row.id);
  return row.userId;
};

const linkTo = async (
  { pool, seal, keys, record }: Dependencies,
  userId: UserId,
  { upstream, by: how, ...kept }: NewLink,
  by: SecurityContext,
): ReturnType<Identities['link']> => {
  const id = newId();
  const identityHash = hashOf(seal, kept);
  const key = await keys.obtain(userId);
  const sealed = sealBytes(key, Buffer.from(JSON.stringify(kept)), bindingOf(userId, id));
  const outcome = await inTransaction(pool, async (connection) => {
    await lockPerson(connection, userId);
    if (await insertIdentity(connection, { id, userId, upstream, identityHash, sealed })) return 'linked';
    const held = await selectIdentityByHash(connection, identityHash);
    if (held === undefined) return 'refused';
    return held.userId === userId ? 'there_already' : 'taken';
  });
  if (outcome === 'linked') {
    const data = { userId, identityId: id, upstream, by: how };
    await record({ type: 'account.identity_linked', data }, by);
  }
  return outcome;
};

const unlinkFrom = async (
  { pool, record }: Dependencies,
  userId: UserId,
  { id, upstreams }: WayToRemove,
  by: SecurityContext,
): ReturnType<Identities['unlink']> => {
  const outcome = await inTransaction(pool, async (connection) => {
    // Of two parallel requests for the last two, one sees that the other has been removed.
    await lockPerson(connection, userId);
    if (!(await hasOtherWay(connection, userId, { id, upstreams }))) return 'last';
    const upstream = await deleteIdentity(connection, userId, id);
    return upstream === undefined ? 'absent' : { upstream };
  });
  if (typeof outcome === 'string') return outcome;
  const data = { userId, identityId: id, upstream: outcome.upstream };
  await record({ type: 'account.identity_unlinked', data }, by);
  return 'unlinked';
};

type Removing = Pick<Dependencies, 'pool' | 'record'>;

const removeIdentity = async (
  { pool, record }: Removing,
  userId: UserId,
  id: string,
  by: SecurityContext,
): Promise<boolean> => {
  const upstream = await deleteIdentity(pool, userId, id);
  if (upstream === undefined) return false;
  await record({ type: 'account.identity_unlinked', data: { userId, identityId: id, upstream } }, by);
  return true;
};

/** For support actions, and for an account that its owner reclaims. Returns how many there were. */
export const removeIdentitiesOf = async (
  dependencies: Removing,
  userId: UserId,
  by: SecurityContext,
): Promise<number> => {
  let removed = 0;
  for (const { id } of await selectIdentitiesOf(dependencies.pool, userId))
    if (await removeIdentity(dependencies, userId, id, by)) removed += 1;
  return removed;
};

type Opened = { readonly row: IdentityRow; readonly kept: Kept };

const openedOf = async (
  { pool, keys }: Pick<Dependencies, 'pool' | 'keys'>,
  userId: UserId,
): Promise<readonly Opened[]> => {
  const rows = await selectIdentitiesOf(pool, userId);
  const key = rows.length === 0 ? undefined : (await keys.find([userId])).get(userId);
  if (key === undefined || key === 'destroyed') return [];
  return rows.map((row) => ({ row, kept: unsealed(key, row) }));
};

/** Decrypts data that this code has sealed. */
const unsealed = (key: Parameters<typeof unseal>[0], { userId, id, sealed }: IdentityRow): Kept =>
  JSON.parse(unseal(key, sealed, bindingOf(userId, id)).toString('utf8')) as Kept;

const bindingOf = (userId: UserId, id: string): string => `upstream:${userId}:${id}`;

const hashOf = (seal: RecordSeal, { issuer, subject }: Subject): Buffer =>
  seal.hash('upstream identity', JSON.stringify([issuer, subject]));
