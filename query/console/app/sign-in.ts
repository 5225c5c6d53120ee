import { openSession, type Session, SignInRefused, tokensBy } from './session.ts';

/** Facts that the server puts into the page. */
export type SignInFacts = {
  /** The canonical address of this page, to which signing in returns. */
  readonly home: string;
  readonly issuer: string;
  readonly scope: string;
};

export type Entrance =
  | { readonly kind: 'leaving' }
  | { readonly kind: 'signed-in'; readonly session: Session }
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'failed'; readonly error: unknown };

const CLIENT_ID = 'console';
const SIGNED_OUT = 'signed-out';
/** Survives the redirects to the sign-in page and back; tokens never leave memory. */
const KEY = 'annals.console.sign-in';

type Kept = { readonly state: string; readonly verifier: string; readonly path: string };

/**
 * Opens a session with the code in the address, or redirects to get one. A user who is signed in sees nothing
 * of that.
 */
export const enter = async (facts: SignInFacts): Promise<Entrance> => {
  const { home } = facts;
  if (location.origin !== new URL(home).origin)
    return leave(new URL(location.pathname + location.search, home).href);
  if (!isSecureContext) throw new SignInRefused('insecure_context', '');
  const answer = new URLSearchParams(location.search);
  const [code, state, error] = ['code', 'state', 'error'].map((name) => answer.get(name));
  if (state === SIGNED_OUT) return { kind: 'signed-out' };
  if (!code && !error) return authorize(facts, location.pathname + location.search);
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Kept | null;
  sessionStorage.removeItem(KEY);
  history.replaceState(null, '', kept?.path ?? new URL(home).pathname);
  if (error) throw new SignInRefused(error, answer.get('error_description') ?? '');
  // A foreign or used answer. Another is requested without notice, because that costs nothing.
  if (kept === null || kept.state !== state) return authorize(facts, location.pathname);
  const grant = {
    grant_type: 'authorization_code',
    code: code ?? '',
    code_verifier: kept.verifier,
    redirect_uri: home,
  };
  const endpoints = { token: new URL('/token', facts.issuer).href, clientId: CLIENT_ID };
  const session = openSession(await tokensBy(endpoints, grant), {
    ...endpoints,
    signInAgain: () => void authorize(facts, location.pathname + location.search),
    signOut: (idToken) => void leave(signOutUrl(facts, idToken)),
  });
  return { kind: 'signed-in', session };
};

const authorize = async ({ home, issuer, scope }: SignInFacts, path: string): Promise<Entrance> => {
  const kept: Kept = { state: randomText(), verifier: randomText(), path };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: home,
    scope,
    state: kept.state,
    code_challenge: await challengeOf(kept.verifier),
    code_challenge_method: 'S256',
  });
  return leave(new URL(`/authorize?${query}`, issuer).href);
};

/** OpenID Connect RP-Initiated Logout: otherwise the session of the sign-in page would remain. */
const signOutUrl = ({ home, issuer }: SignInFacts, idToken: string | undefined): string => {
  const query = new URLSearchParams({
    client_id: CLIENT_ID,
    post_logout_redirect_uri: home,
    state: SIGNED_OUT,
  });
  if (idToken !== undefined) query.set('id_token_hint', idToken);
  return new URL(`/sign-out?${query}`, issuer).href;
};

const leave = (url: string): Entrance => {
  location.assign(url);
  return { kind: 'leaving' };
};

const VERIFIER_BYTES = 32;

export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');

const randomText = (): string => base64url(crypto.getRandomValues(new Uint8Array(VERIFIER_BYTES)));

/** RFC 7636, section 4.2. */
export const challengeOf = async (verifier: string): Promise<string> =>
  base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
