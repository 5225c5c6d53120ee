import type { CryptoKey, JWK, JWTHeaderParameters } from 'jose';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { jwtVerify } from 'jose/jwt/verify';
import { importJWK } from 'jose/key/import';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { DPOP_ALGORITHMS } from '../http/dpop-algorithms.ts';
import { InvalidProof } from './invalid-proof.ts';

/** The facts that a proof must match. */
type Proven = {
  readonly method: string;
  /** Without query and fragment. */
  readonly url: string;
  /** SHA-256 of the access token, in base64url. */
  readonly tokenDigest: string;
  /** The thumbprint of the key to which the token is bound. */
  readonly jkt: string;
};

/** A valid proof; the caller checks that it was not used before. */
type Proof = { readonly jti: string; readonly expiresAtS: number };

const PROOF_AGE_MAX_S = 60;
/** Clocks of clients may be wrong, and a proof made a little in the future is of no more use to a thief. */
const PROOF_AHEAD_MAX_S = 15;
const PROOF_CHARACTERS_MAX = 4_000;
const KEYS_CACHED_MAX = 5_000;

const Payload = z.object({
  jti: z.string().min(1).max(200),
  htm: z.string(),
  htu: z.string(),
  iat: z.number(),
  ath: z.string(),
});

/** Verifies the value of a `DPoP` header (RFC 9449, section 4.3), except that it is unused. */
export const createProofVerifier = (): ((proof: string, about: Proven) => Promise<Proof>) => {
  const keys = new LRUCache<string, CryptoKey>({ max: KEYS_CACHED_MAX });
  return async (proof, about) => {
    const payload = await readProof(proof, (header) => keyOf(header, about.jkt, keys));
    const nowS = Date.now() / 1_000;
    if (payload.iat < nowS - PROOF_AGE_MAX_S) throw new InvalidProof('The proof is too old.');
    if (payload.iat > nowS + PROOF_AHEAD_MAX_S)
      throw new InvalidProof('The time of the proof is in the future.');
    if (payload.htm !== about.method) throw new InvalidProof('The proof is for another method.');
    if (!isSameUrl(payload.htu, about.url))
      throw new InvalidProof(`The proof is for a URL other than ${about.url}`);
    if (payload.ath !== about.tokenDigest) throw new InvalidProof('The proof is for another token.');
    return { jti: payload.jti, expiresAtS: payload.iat + PROOF_AGE_MAX_S };
  };
};

type FindKey = (header: JWTHeaderParameters) => Promise<CryptoKey>;

const readProof = async (proof: string, findKey: FindKey): Promise<z.infer<typeof Payload>> => {
  if (proof.length > PROOF_CHARACTERS_MAX) throw new InvalidProof('The proof is too long.');
  try {
    // The window above decides, whatever else the proof may claim.
    const { payload } = await jwtVerify(proof, findKey, {
      typ: 'dpop+jwt',
      algorithms: [...DPOP_ALGORITHMS],
      clockTolerance: PROOF_AGE_MAX_S,
    });
    return Payload.parse(payload);
  } catch (error) {
    if (error instanceof InvalidProof) throw error;
    throw new InvalidProof('This is not a DPoP proof as defined by RFC 9449.', { cause: error });
  }
};

/**
 * The key of the proof, which must be that of the token. Cached, because its import costs as much as a
 * signature.
 */
const keyOf = async (
  header: JWTHeaderParameters,
  jkt: string,
  keys: LRUCache<string, CryptoKey>,
): Promise<CryptoKey> => {
  const jwk = publicPartOf(header.jwk);
  if ((await calculateJwkThumbprint(jwk)) !== jkt)
    throw new InvalidProof('The token is bound to another key.');
  const id = `${header.alg} ${jkt}`;
  const known = keys.get(id);
  if (known !== undefined) return known;
  const key = await importJWK(jwk, header.alg);
  if (key instanceof Uint8Array) throw new InvalidProof('The key of the proof is a shared secret.');
  keys.set(id, key);
  return key;
};

const PublicJwk = z.union([
  z.object({
    kty: z.literal('EC'),
    crv: z.literal('P-256'),
    x: z.string(),
    y: z.string(),
    d: z.never().optional(),
  }),
  z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string(), d: z.never().optional() }),
]);

const publicPartOf = (jwk: unknown): JWK => {
  const result = PublicJwk.safeParse(jwk);
  if (!result.success) throw new InvalidProof('The proof must contain its public key, and no private key.');
  const { d: _, ...publicPart } = result.data;
  return publicPart as JWK;
};

/** Compares URLs in normal form (RFC 3986, section 6.2), without query and fragment. */
const isSameUrl = (given: string, expected: string): boolean => {
  // A request target need not be a path: `*` and another scheme make no URL of ours (RFC 9112, section 3.2).
  if (!URL.canParse(given) || !URL.canParse(expected)) return false;
  const [one, other] = [new URL(given), new URL(expected)];
  return (
    one.origin === other.origin &&
    one.pathname === other.pathname &&
    one.username === '' &&
    one.password === ''
  );
};
