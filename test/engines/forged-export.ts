import { generateKeyPairSync, sign } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SignedManifest, signManifest } from '../../proof/export/manifest.ts';
import {
  type AuditKey,
  endorsementText,
  type PublicKey,
  thumbprint,
} from '../../proof/stored/signing-keys.ts';

/** A key without any relation to the log. */
export type TestKey = { readonly id: string; readonly publicKey: PublicKey; sign(text: string): string };

export const aKey = (): TestKey => {
  const { publicKey: made, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = made.export({ format: 'jwk' });
  const publicKey: PublicKey = { kty: 'OKP', crv: 'Ed25519', x };
  return {
    id: thumbprint(publicKey),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString('base64url'),
  };
};

export const endorsed = ({ id, publicKey }: TestKey, by?: TestKey): AuditKey => {
  const key = { id, publicKey, madeAt: '2026-01-02T03:04:05.678Z', endorsedBy: by?.id ?? null };
  return { ...key, endorsement: by?.sign(endorsementText(key)) ?? null };
};

/** Signs an export like an owner of these keys, without the heads that others have signed. */
export const signAnew = async (folder: string, keys: readonly AuditKey[], signer: TestKey): Promise<void> => {
  const file = join(folder, 'manifest.json');
  const {
    signature: _,
    key: __,
    ...manifest
  } = SignedManifest.parse(JSON.parse(await readFile(file, 'utf8')));
  const forged = signManifest(
    { key: signer.id, publicKey: signer.publicKey, sign: signer.sign },
    { ...manifest, heads: [], keys: [...keys] },
  );
  await writeFile(file, JSON.stringify(forged));
};
