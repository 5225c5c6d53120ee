import { createHmac, timingSafeEqual } from 'node:crypto';
import { Unverified } from './verifier.ts';

/** While secrets are rotated, a sender signs with some of them. */
const SIGNATURES_MAX = 20;

type Digest = 'sha256' | 'sha512';
type Encoding = 'hex' | 'base64';

const FORMS: Readonly<Record<Encoding, RegExp>> = {
  hex: /^[0-9a-f]+$/i,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
};

/** The bytes of a signature; undefined if it is not encoded in that way. */
export const bytesOf = (text: string, encoding: Encoding): Buffer | undefined =>
  FORMS[encoding].test(text) ? Buffer.from(text, encoding) : undefined;

type Signed = {
  readonly secrets: readonly Buffer[];
  /** The signed bytes, in parts. */
  readonly content: readonly (string | Buffer)[];
  readonly signatures: readonly Buffer[];
  readonly digest?: Digest | undefined;
};

export const WRONG =
  'The signature does not match the body: sign its exact bytes, with a secret that is set here.';

/**
 * Whether one of the signatures is by one of the secrets. Compares all of them, each in a time that does not depend on
 * where they differ.
 */
export const isSigned = ({ secrets, content, signatures, digest = 'sha256' }: Signed): boolean => {
  let isFound = false;
  for (const secret of secrets) {
    const hmac = createHmac(digest, secret);
    for (const part of content) hmac.update(part);
    const expected = hmac.digest();
    for (const signature of signatures.slice(0, SIGNATURES_MAX))
      if (signature.length === expected.length && timingSafeEqual(signature, expected)) isFound = true;
  }
  return isFound;
};

export const demandSigned = (signed: Signed): void => {
  if (!isSigned(signed)) throw new Unverified(WRONG);
};
