import type { Session } from '../session.ts';
import { shareCall, unlessAborted } from '../wait.ts';
import { createProver, newKeyPair } from './dpop.ts';
import { type AccessToken, requestToken, type TokenOptions, usableMs } from './token-endpoint.ts';

export type ClientCredentials = TokenOptions & {
  readonly clientId: string;
  readonly clientSecret: string;
  /** By default the default scopes of the client. */
  readonly scopes?: readonly string[];
  /** Binds the tokens to a key that only this process has (RFC 9449). */
  readonly dpop?: boolean;
};

/** A token, or a pending request for one. */
type Kept = { readonly asked: Promise<AccessToken>; authorization?: string; renewAtMs: number };

/**
 * Signs a service in as itself (RFC 6749, 4.4). Keeps the access token until shortly before it expires; all
 * requests share it, and its renewal.
 */
export const clientCredentials = ({
  clientId,
  clientSecret,
  scopes,
  dpop = false,
  ...options
}: ClientCredentials): Session => {
  const basic = `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`;
  const session: Session = { authorize: async () => ({ Authorization: basic }) };
  const form = { grant_type: 'client_credentials', ...(scopes && { scope: scopes.join(' ') }) };
  const prover = dpop ? createProver(shareCall(newKeyPair)) : undefined;
  let kept: Kept | undefined;

  const request = (): Kept => {
    const asking = async (): Promise<AccessToken> => {
      const beganMs = Date.now();
      try {
        const token = await requestToken({ ...options, session, form, prover });
        requested.renewAtMs = beganMs + usableMs(token);
        requested.authorization = authorizationBy(token);
        return token;
      } catch (error) {
        // The next request asks again.
        if (kept === requested) kept = undefined;
        throw error;
      }
    };
    const requested: Kept = { asked: Promise.resolve().then(asking), renewAtMs: Number.POSITIVE_INFINITY };
    return requested;
  };

  return {
    async authorize({ method, url, signal }) {
      if (kept === undefined || Date.now() >= kept.renewAtMs) kept = request();
      const token = await unlessAborted(kept.asked, signal);
      return {
        Authorization: authorizationBy(token),
        ...(prover && { DPoP: await prover.prove({ method, url, ...token }) }),
      };
    },
    async refused(response, { Authorization: sent, DPoP: proof = '' }) {
      if (await prover?.asksForNonce(proof, response)) return true;
      if (kept !== undefined && kept.authorization === sent) kept = undefined;
      return true;
    },
  };
};

const authorizationBy = ({ type, token }: AccessToken): string => `${type} ${token}`;
