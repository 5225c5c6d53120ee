import type { Answer, Statement } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { type KeyRow, NEWEST_KEY, type PublicKey, type Signer, signerOf } from './signing-keys.ts';

/** The public parts of the keys that were sealed under this master key, the newest first. */
export const readOwnKeys = async (
  database: Pick<Pool | Connection, 'query'>,
  masterKey: MasterKey,
): Promise<readonly PublicKey[]> => {
  const { rows } = await database.query<KeyRow>(
    'select id, sealed from audit.signing_key order by number desc',
  );
  return rows.flatMap((row) => {
    try {
      return [signerOf(masterKey, row).publicKey];
    } catch {
      return [];
    }
  });
};

/** The newest key, for callers that send it with other statements. */
export const FIND_NEWEST_KEY: Statement = { name: 'audit-newest-key', text: NEWEST_KEY };

/** The signer of the newest key in the answer. It is opened once, and again after a rotation. */
export const signersIn = (masterKey: MasterKey): ((answer: Answer | undefined) => Signer) => {
  let signer: Signer | undefined;
  return (answer) => {
    const row = answer?.rows[0] as KeyRow | undefined;
    if (row === undefined) throw new Error('There is no key that signs heads.');
    if (signer?.key !== row.id) signer = signerOf(masterKey, row);
    return signer;
  };
};
