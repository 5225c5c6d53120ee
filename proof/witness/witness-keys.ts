import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { type CosignatureAlgorithm, cosign, textOfWitnessKey, type WitnessKey } from '../tree/cosignature.ts';

/** A key of this witness, which cosigns. */
export type Cosigner = {
  readonly key: WitnessKey;
  /** A line for the note; undefined if this kind of key cannot sign such a text. */
  cosign(text: string, atS: number): string | undefined;
};

/** The file has a private key of each kind, under one name. */
const KeyFile = z.strictObject({ name: z.string(), ed25519: z.string(), mlDsa44: z.string() });

const NAME = /^[^\s+]{1,255}$/;

/** A name is a URL without its scheme, such as `witness.example/w1`. */
export const isWitnessName = (name: string): boolean => NAME.test(name) && Buffer.byteLength(name) <= 255;

export const makeKeyFile = (name: string): string =>
  `${JSON.stringify(
    {
      name,
      ed25519: pemOf(generateKeyPairSync('ed25519').privateKey),
      mlDsa44: pemOf(generateKeyPairSync('ml-dsa-44').privateKey),
    },
    null,
    2,
  )}\n`;

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString();

/** Undefined if the text is no such file. */
export const readKeyFile = (text: string): readonly Cosigner[] | undefined => {
  try {
    const { name, ed25519, mlDsa44 } = KeyFile.parse(JSON.parse(text));
    if (!isWitnessName(name)) return undefined;
    return [cosignerOf(name, 'ML-DSA-44', mlDsa44), cosignerOf(name, 'Ed25519', ed25519)];
  } catch {
    return undefined;
  }
};

const cosignerOf = (name: string, algorithm: CosignatureAlgorithm, pem: string): Cosigner => {
  const privateKey = createPrivateKey(pem);
  const { x, pub } = createPublicKey(privateKey).export({ format: 'jwk' });
  const encoded = algorithm === 'Ed25519' ? x : pub;
  const key = { name, algorithm, publicKey: Buffer.from(String(encoded), 'base64url') };
  // A file whose keys were exchanged signs nothing.
  if (encoded === undefined) throw new Error(`the key is none for ${algorithm}`);
  return { key, cosign: (text, atS) => cosign(text, { key, privateKey, atS }) };
};

export const vkeysOf = (cosigners: readonly Cosigner[]): readonly string[] =>
  cosigners.map(({ key }) => textOfWitnessKey(key));
