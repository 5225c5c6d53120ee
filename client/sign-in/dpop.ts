import type { Fetch } from '../transport.ts';
import { base64url, claimsIn, sha256, textBytes } from './encoding.ts';

/** Proofs that the sender of a token has the key that the token is bound to (RFC 9449). */

type Proven = {
  readonly method: string;
  readonly url: string;
  /** The access token of the request; none at the token endpoint. */
  readonly token?: string | undefined;
  /** By how much the server's clock is ahead of ours. */
  readonly aheadMs?: number;
};

export type Prover = {
  /** Returns the value of the `DPoP` header for one request. Every attempt needs a new one. */
  readonly prove: (about: Proven) => Promise<string>;
  /**
   * Keeps the nonce of an answer to a proof. Returns whether the server refused the request because the proof
   * had no nonce, or an old one.
   */
  readonly asksForNonce: (proof: string, response: Response) => Promise<boolean>;
  /** The server's name for the key (RFC 7638). */
  readonly thumbprint: () => Promise<string>;
};

/** The type that Node and browsers have in common. */
type Key = Parameters<typeof crypto.subtle.sign>[1];
export type KeyPair = { readonly publicKey: Key; readonly privateKey: Key };

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** The private key is unreadable, even for the page that uses it. */
export const newKeyPair = (): Promise<KeyPair> =>
  crypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);

const ID_BYTES = 16;
const MS_PER_SECOND = 1_000;
const NONCE_ASKED = 'use_dpop_nonce';

export const createProver = (keyPair: () => Promise<KeyPair>): Prover => {
  const nonces = new Map<string, string>();
  return {
    async prove({ method, url, token, aheadMs = 0 }) {
      const { publicKey, privateKey } = await keyPair();
      const { origin, pathname } = new URL(url);
      const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: await publicPartsOf(publicKey) };
      const claims = {
        jti: base64url(crypto.getRandomValues(new Uint8Array(ID_BYTES))),
        htm: method,
        htu: `${origin}${pathname}`,
        iat: Math.floor((Date.now() + aheadMs) / MS_PER_SECOND),
        ...(token !== undefined && { ath: await sha256(token) }),
        ...(nonces.has(origin) && { nonce: nonces.get(origin) }),
      };
      const signed = [header, claims].map((part) => base64url(textBytes(JSON.stringify(part)))).join('.');
      return `${signed}.${base64url(new Uint8Array(await crypto.subtle.sign(ALGORITHM, privateKey, textBytes(signed))))}`;
    },
    async asksForNonce(proof, response) {
      const nonce = response.headers.get('DPoP-Nonce');
      if (nonce === null) return false;
      nonces.set(new URL(String(claimsIn(proof).htu)).origin, nonce);
      // A resource server asks for a nonce by a challenge, the token endpoint by an error.
      if (response.status === 401)
        return response.headers.get('WWW-Authenticate')?.includes(NONCE_ASKED) ?? false;
      return response.status === 400 && (await response.clone().text()).includes(NONCE_ASKED);
    },
    thumbprint: async () => sha256(JSON.stringify(await publicPartsOf((await keyPair()).publicKey))),
  };
};

/** In the order that a thumbprint requires. */
const publicPartsOf = async (key: Key) => {
  const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', key);
  return { crv, kty, x, y };
};

/** Sends a proof with every request to the token endpoint, and retries once with the server's nonce. */
export const provingFetch =
  (fetch: Fetch, { prove, asksForNonce }: Prover): Fetch =>
  async (url, init) => {
    const send = async (): Promise<{ response: Response; isAgain: boolean }> => {
      const proof = await prove({ method: init.method ?? 'GET', url });
      const response = await fetch(url, { ...init, headers: { ...init.headers, DPoP: proof } });
      return { response, isAgain: await asksForNonce(proof, response) };
    };
    const { response, isAgain } = await send();
    return isAgain ? (await send()).response : response;
  };
