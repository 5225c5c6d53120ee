import { Problem } from '../../problem.ts';
import { sha256 } from '../encoding.ts';
import { randomText } from './kept-tokens.ts';
import { type Page, textIn, throwBlocked } from './page.ts';

/** The authorization code request: to the sign-in page and back (RFC 6749, 4.1; PKCE, RFC 7636). */

export type CodeRequest = {
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes?: readonly string[] | undefined;
  /** The thumbprint of the key that the code is to be bound to (RFC 9449, section 10). */
  readonly thumbprint?: string | undefined;
  /** More parameters, such as `{ prompt: 'login' }`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
};

/** State that the page keeps while the browser visits the sign-in page. */
type Pending = { readonly state: string; readonly verifier: string; readonly returnTo: string };

const VERIFIER_BYTES = 32;

/** Returns the address to go to. The tab stores the values that the answer must match. */
export const beginCodeRequest = async (
  page: Pick<Page, 'sessionStorage'>,
  key: string,
  { returnTo, ...asked }: CodeRequest & { readonly returnTo: string },
): Promise<string> => {
  const { address, pending } = await codeRequestOf(asked, { state: randomText(VERIFIER_BYTES), returnTo });
  try {
    page.sessionStorage.setItem(key, JSON.stringify(pending));
  } catch (cause) {
    throwBlocked(cause);
  }
  return address;
};

/** The address to go to, and what the answer must match. */
export const codeRequestOf = async (
  asked: CodeRequest,
  { state, returnTo }: Pick<Pending, 'state' | 'returnTo'>,
): Promise<{ readonly address: string; readonly pending: Pending }> => {
  const pending: Pending = { state, verifier: randomText(VERIFIER_BYTES), returnTo };
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri,
    ...(asked.scopes && { scope: asked.scopes.join(' ') }),
    code_challenge: await sha256(pending.verifier),
    code_challenge_method: 'S256',
    ...(asked.thumbprint !== undefined && { dpop_jkt: asked.thumbprint }),
    ...asked.parameters,
    state: pending.state,
  });
  return { address: `${asked.issuer}/authorize?${query}`, pending };
};

/** Parameters of the token request. */
export type CodeAnswer = { readonly code: string; readonly code_verifier: string };
type Returned = {
  readonly returnTo: string;
  /** The address of this page without the answer. */
  readonly cleaned: string;
  readonly answer: CodeAnswer | Problem;
};

const ANSWER = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'];

/**
 * The answer of a sign-in, if its redirect has opened the page. It is valid once: the tab deletes its pending
 * request.
 */
export const takeAnswer = (
  page: Pick<Page, 'location' | 'sessionStorage'>,
  key: string,
  asked: Pick<CodeRequest, 'issuer' | 'redirectUri'>,
): Returned | undefined => {
  const here = new URL(page.location.href);
  const parameters = new URLSearchParams(here.search);
  const [code, state, , error] = ANSWER.map((name) => parameters.get(name) ?? undefined);
  if (state === undefined || (code === undefined && error === undefined) || !isAt(here, asked.redirectUri))
    return undefined;
  const pending = textIn(page, key) as Pending | null;
  for (const name of ANSWER) here.searchParams.delete(name);
  const cleaned = here.href;
  if (pending?.state !== state)
    return { returnTo: cleaned, cleaned, answer: refusal(STATE_MISMATCH, NOT_ASKED) };
  page.sessionStorage.removeItem(key);
  const returnTo = ownAddress(pending.returnTo, cleaned) ?? cleaned;
  return { returnTo, cleaned, answer: answerIn(parameters, pending, asked) };
};

/** The answer in the parameters of the redirect, whose state is the right one. */
export const answerIn = (
  parameters: URLSearchParams,
  { verifier }: Pick<Pending, 'verifier'>,
  { issuer }: Pick<CodeRequest, 'issuer'>,
): CodeAnswer | Problem => {
  const [code, iss] = [parameters.get('code'), parameters.get('iss')];
  // Another issuer could obtain the code that this one has issued (RFC 9207).
  if (iss?.replace(/\/$/, '') !== issuer) return fromElsewhere(iss, issuer);
  return code === null
    ? refusal(parameters.get('error') ?? '', parameters.get('error_description'))
    : { code, code_verifier: verifier };
};

/**
 * Undefined for an address of another origin, and for a script: `javascript:`, or `blob:`, which has the
 * origin of its page.
 */
export const ownAddress = (address: string, here: string): string | undefined => {
  if (!URL.canParse(address, here)) return undefined;
  const [there, { origin, protocol }] = [new URL(address, here), new URL(here)];
  return there.origin === origin && there.protocol === protocol ? there.href : undefined;
};

const isAt = ({ origin, pathname }: URL, redirectUri: string): boolean => {
  const there = new URL(redirectUri);
  return origin === there.origin && pathname === there.pathname;
};

const refusal = (code: string, description: string | null): Problem =>
  new Problem({ code, status: 400, message: description ?? `the server refused to sign in: ${code}` });
export const STATE_MISMATCH = 'state_mismatch';
const NOT_ASKED = 'this tab did not start this sign-in: sign in again';
const fromElsewhere = (iss: string | null, issuer: string): Problem =>
  refusal(
    'issuer_mismatch',
    `the response has the issuer ${iss ?? '(none)'}, not ${issuer}: set issuer to it only if you trust it`,
  );
