import { createHash, randomUUID } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

export const ISSUER = 'https://auth.example';
export const AUDIENCE = 'https://api.example';

type Claims = Readonly<Record<string, unknown>>;

/** Signs tokens like an authorization server, and like a forger. */
export type TokenMint = {
  readonly kid: string;
  /** The public key set. */
  readonly jwks: { readonly keys: readonly JWK[] };
  token(claims?: Claims, header?: Record<string, unknown>): Promise<string>;
};

export const nowS = (): number => Math.floor(Date.now() / 1_000);

/** Valid in every respect, so that a test changes one thing; `undefined` omits a claim. */
export const createTokenMint = async (kid: string = randomUUID()): Promise<TokenMint> => {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  return {
    kid,
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }] },
    token: (claims = {}, header = {}) => {
      const [iat, all] = [
        nowS(),
        { iss: ISSUER, aud: AUDIENCE, sub: '7001', client_id: 'web', scope: 'read:articles', role: 'author' },
      ];
      const payload = { ...all, jti: randomUUID(), iat, exp: iat + 300, ...claims };
      return new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid, ...header })
        .sign(privateKey, { crit: { 'x-unknown': false } });
    },
  };
};

/** A key of a client, and proofs of its possession (RFC 9449). */
export type ProofMint = {
  readonly jkt: string;
  readonly publicJwk: JWK;
  readonly privateKey: CryptoKey;
  proof(
    about: { token: string; url?: string; method?: string },
    claims?: Claims,
    header?: Record<string, unknown>,
  ): Promise<string>;
};

export const createProofMint = async (alg: 'ES256' | 'Ed25519' = 'ES256'): Promise<ProofMint> => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    jkt: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateKey,
    proof: ({ token, url = `${AUDIENCE}/me`, method = 'GET' }, claims = {}, header = {}) => {
      const ath = createHash('sha256').update(token).digest('base64url');
      const payload = { jti: randomUUID(), htm: method, htu: url, iat: nowS(), ath, ...claims };
      return new SignJWT(JSON.parse(JSON.stringify(payload)))
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey);
    },
  };
};
