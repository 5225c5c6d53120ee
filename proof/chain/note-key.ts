import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type PublicKey, readAuditKeys } from '../stored/signing-keys.ts';
import { originOf } from '../tree/checkpoint.ts';
import type { NoteKey } from '../tree/note.ts';

/** A key that signs heads, as it signs checkpoints of a log. */
export const noteKeyOf = ({ x }: PublicKey, log: LogIdentity): NoteKey => ({
  name: originOf(log),
  publicKey: Buffer.from(x, 'base64url'),
});

/** The key that signs the next checkpoint. */
export const noteKeyIn = async (pool: Pool, log: LogIdentity): Promise<NoteKey> => {
  const newest = (await readAuditKeys(pool)).at(-1);
  if (newest === undefined) throw new Error('There is no key that signs heads.');
  return noteKeyOf(newest.publicKey, log);
};
