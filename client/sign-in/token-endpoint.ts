import { Problem } from '../problem.ts';
import type { Session } from '../session.ts';
import { type Fetch, LIMITS, type Limits, send } from '../transport.ts';

/** Requests of access tokens (RFC 6749). What may pass is tried again, as every request of the client. */

export type TokenOptions = Partial<Limits> & {
  /** Where Annals is, as for `createClient`. */
  readonly url: string | URL;
  readonly fetch?: Fetch;
};

export type AccessToken = { readonly token: string; readonly lifetimeMs: number };

type Asked = TokenOptions & { readonly session: Session; readonly form: Readonly<Record<string, string>> };

export const requestToken = async ({ url, form, session, fetch = globalThis.fetch, ...limits }: Asked): Promise<AccessToken> => {
  const response = await send(
    { ...LIMITS, ...limits, session, fetch: async (input, init) => withProblem(await fetch(input, init)) },
    {
      method: 'POST',
      url: `${String(url).replace(/\/+$/, '')}/token`,
      headers: { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      isRepeatable: true,
    },
  );
  return tokenIn(await response.text());
};

const MS_PER_SECOND = 1_000;

const tokenIn = (text: string): AccessToken => {
  const { access_token: token, token_type: type, expires_in: lifetimeSeconds = Number.POSITIVE_INFINITY } = answerIn(text);
  if (typeof token !== 'string' || String(type).toLowerCase() !== 'bearer')
    throw new Problem({ code: 'unexpected_answer', status: 200, message: 'the answer of the token endpoint is no bearer token' });
  return { token, lifetimeMs: Number(lifetimeSeconds) * MS_PER_SECOND };
};

const answerIn = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
};

/** An error of OAuth (RFC 6749, 5.2) as the problem of its code. */
const withProblem = async (response: Response): Promise<Response> => {
  const { status, headers } = response;
  if (response.ok || !headers.get('Content-Type')?.startsWith('application/json')) return response;
  const { error: code, error_description: detail } = answerIn(await response.text());
  const problem = JSON.stringify({ code, detail });
  const retryAfter = headers.get('Retry-After');
  return new Response(problem, {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...(retryAfter !== null && { 'Retry-After': retryAfter }) },
  });
};
