import type { Session } from '../session.ts';
import { requestToken, type TokenOptions, unlessAborted } from './token-endpoint.ts';

export type ClientCredentials = TokenOptions & {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Without them, the default scopes of the client. */
  readonly scopes?: readonly string[];
};

type Headers = Readonly<Record<string, string>>;
/** A token, or the request of one. */
type Kept = { readonly asked: Promise<Headers>; headers?: Headers; renewAtMs: number };

/**
 * A service signs in as itself (RFC 6749, 4.4). Its access token is kept until shortly before it runs out; all requests
 * share it, and wait for the same request of another.
 */
export const clientCredentials = ({ clientId, clientSecret, scopes, ...options }: ClientCredentials): Session => {
  const basic = `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`;
  const session: Session = { authorize: async () => ({ Authorization: basic }) };
  const form = { grant_type: 'client_credentials', ...(scopes && { scope: scopes.join(' ') }) };
  let kept: Kept | undefined;

  const request = (): Kept => {
    const asking = async (): Promise<Headers> => {
      try {
        const { token, renewAtMs } = await requestToken({ ...options, session, form });
        requested.renewAtMs = renewAtMs;
        requested.headers = { Authorization: `Bearer ${token}` };
        return requested.headers;
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
    authorize({ signal }) {
      if (kept === undefined || Date.now() >= kept.renewAtMs) kept = request();
      return unlessAborted(kept.asked, signal);
    },
    async refused(_response, headers) {
      if (kept?.headers === headers) kept = undefined;
      return true;
    },
  };
};
