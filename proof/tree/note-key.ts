import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { readOwnKeys } from '../stored/signers.ts';
import { type PublicKey, readAuditKeys } from '../stored/signing-keys.ts';
import { isNoteSignedBy, type NoteKey, parseNote } from './note.ts';
import { originOf, parseTreeHead, type TreeHead } from './tree-head.ts';

/** A key that signs heads, as it signs those of the tree over a log. */
export const noteKeyOf = ({ x }: PublicKey, log: LogIdentity): NoteKey => keyNamed(originOf(log), x);

const keyNamed = (name: string, x: string): NoteKey => ({ name, publicKey: Buffer.from(x, 'base64url') });

export type SignedTreeHead = { readonly head: TreeHead; readonly key: NoteKey };

/** The head in a note, and the one of these keys that has signed it; undefined if none has. */
const signedHeadIn = (
  text: string | null | undefined,
  keys: readonly PublicKey[],
): SignedTreeHead | undefined => {
  const note = text == null ? undefined : parseNote(text);
  const head = note && parseTreeHead(note.text);
  if (note === undefined || head === undefined) return undefined;
  const key = keys.map(({ x }) => keyNamed(head.origin, x)).find((each) => isNoteSignedBy(note, each));
  return key && { head, key };
};

/** The same by all keys that the database shows. */
export const publishedHeadIn = async (pool: Pool, text: string | null): Promise<SignedTreeHead | undefined> =>
  signedHeadIn(
    text,
    (await readAuditKeys(pool)).map(({ publicKey }) => publicKey),
  );

/**
 * The same by the keys of which we have the private part: a key that somebody has inserted into the database
 * signs nothing.
 */
export const ownHeadIn = async (
  { connection, masterKey }: { readonly connection: Connection | Pool; readonly masterKey: MasterKey },
  text: string | null,
): Promise<SignedTreeHead | undefined> => signedHeadIn(text, await readOwnKeys(connection, masterKey));
