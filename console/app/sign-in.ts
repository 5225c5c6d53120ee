import { openSession, type Session, SignInRefused, type Tokens, tokensBy } from './base/session.ts';
import { answerFromBeside, besideState, isBeside, passOn } from './base/sign-in-again.ts';
import { dropDrafts, hasUnsent } from './data/drafts.ts';

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
  /** In the window of a sign-in for another page, if it cannot be closed. */
  | { readonly kind: 'beside' }
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
  if (state === SIGNED_OUT) return signedOut();
  if (isBeside(state ?? null)) {
    passOn({ state: state ?? '', code: code ?? null, error: error ?? null });
    return { kind: 'beside' };
  }
  if (!code && !error) return authorize(facts, location.pathname + location.search);
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Kept | null;
  sessionStorage.removeItem(KEY);
  history.replaceState(null, '', kept?.path ?? new URL(home).pathname);
  if (error) throw new SignInRefused(error, answer.get('error_description') ?? '');
  // A foreign or used answer. Another is requested without notice, because that costs nothing.
  if (kept === null || kept.state !== state) return authorize(facts, location.pathname);
  const endpoints = endpointsOf(facts);
  const session = openSession(await tokensBy(endpoints, grantOf(facts, code ?? '', kept.verifier)), {
    ...endpoints,
    signInAgain: async (refused, idToken) => {
      if (hasUnsent()) return signInBeside(facts, { refused, idToken });
      // Input that was left for another page stays for this user: anybody else who signs in ends it.
      await authorize(facts, location.pathname + location.search);
      throw refused;
    },
    signOut: (idToken) => {
      dropDrafts();
      leave(signOutUrl(facts, idToken));
    },
  });
  return { kind: 'signed-in', session };
};

const signedOut = (): Entrance => {
  dropDrafts();
  return { kind: 'signed-out' };
};

type Ended = { readonly refused: SignInRefused; readonly idToken: string | undefined };

/** The page has input that was not sent, so it stays, and the user signs in in another window. */
const signInBeside = async (facts: SignInFacts, { refused, idToken }: Ended): Promise<Tokens> => {
  const [state, verifier] = [besideState(randomText()), randomText()];
  const answer = await answerFromBeside(await authorizeUrl(facts, { state, verifier }), state);
  if (!answer?.code) throw refused;
  const tokens = await tokensBy(endpointsOf(facts), grantOf(facts, answer.code, verifier));
  if (subjectOf(tokens.id_token) === subjectOf(idToken)) return tokens;
  // Another user must not see this input.
  dropDrafts();
  leave(facts.home);
  throw refused;
};

/** The token comes from our own server by a direct request, which OpenID Connect allows to trust as it is. */
const subjectOf = (idToken: string | undefined): unknown => {
  const [, payload = ''] = idToken?.split('.') ?? [];
  const { sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')) || '{}') as {
    readonly sub?: string;
  };
  return sub;
};

const endpointsOf = ({ issuer }: SignInFacts) => ({
  token: new URL('/token', issuer).href,
  clientId: CLIENT_ID,
});

const grantOf = ({ home }: SignInFacts, code: string, verifier: string) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: home,
});

const authorize = async (facts: SignInFacts, path: string): Promise<Entrance> => {
  const kept: Kept = { state: randomText(), verifier: randomText(), path };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
  return leave(await authorizeUrl(facts, kept));
};

const authorizeUrl = async (
  { home, issuer, scope }: SignInFacts,
  { state, verifier }: Pick<Kept, 'state' | 'verifier'>,
): Promise<string> => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: home,
    scope,
    state,
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
  });
  return new URL(`/authorize?${query}`, issuer).href;
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
