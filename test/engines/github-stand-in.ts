import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { startLocalServer } from './local-server.ts';

type Client = { readonly clientId: string; readonly clientSecret: string };

/** The answers of `/user` and `/user/emails`, as the documentation of GitHub's API has them. */
type User = { readonly profile: object; readonly emails: readonly object[] };

/**
 * GitHub's sign-in by OAuth, with the answers that its documentation describes (“Authorizing OAuth apps”, “Users”,
 * “Emails”). Nobody has to click there.
 */
export type GitHubStandIn = AsyncDisposable & { readonly url: string; user: User; refusesCodes: boolean };

export const startGitHubStandIn = async (client: Client): Promise<GitHubStandIn> => {
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>();
  const tokens = new Set<string>();
  const state = { user: { profile: {}, emails: [] } as User, refusesCodes: false };
  const server = await startLocalServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://github.test');
    if (pathname === '/login/oauth/authorize') return authorize(codes, searchParams, response);
    if (pathname === '/login/oauth/access_token')
      return void exchange({ client, codes, tokens, state }, request, response);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const content =
      pathname === '/api/v3/user'
        ? state.user.profile
        : pathname === '/api/v3/user/emails'
          ? state.user.emails
          : undefined;
    if (!tokens.has(token)) return json(response, 401, { message: 'Bad credentials', status: '401' });
    return json(response, content === undefined ? 404 : 200, content ?? { message: 'Not Found' });
  });
  return Object.assign(state, {
    url: server.url,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
};

type Codes = Map<string, { readonly challenge: string; readonly redirectUri: string }>;

const json = (response: ServerResponse, status: number, content: unknown): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(content));

const authorize = (codes: Codes, query: URLSearchParams, response: ServerResponse): void => {
  const code = randomBytes(10).toString('hex');
  const redirectUri = query.get('redirect_uri') ?? '';
  codes.set(code, { challenge: query.get('code_challenge') ?? '', redirectUri });
  const target = `${redirectUri}?${new URLSearchParams({ code, state: query.get('state') ?? '' })}`;
  response.writeHead(302, { location: target }).end();
};

type Exchanging = {
  readonly client: Client;
  readonly codes: Codes;
  readonly tokens: Set<string>;
  readonly state: { readonly refusesCodes: boolean };
};

/** Errors have the status 200, too. */
const exchange = async (
  { client, codes, tokens, state }: Exchanging,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const form = new URLSearchParams(await text(request));
  const code = form.get('code') ?? '';
  const known = codes.get(code);
  codes.delete(code);
  if (form.get('client_id') !== client.clientId || form.get('client_secret') !== client.clientSecret)
    return json(response, 200, { error: 'incorrect_client_credentials' });
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url');
  const isRight = known?.challenge === challenge && known.redirectUri === form.get('redirect_uri');
  if (!isRight || state.refusesCodes)
    return json(response, 200, {
      error: 'bad_verification_code',
      error_description: 'The code passed is incorrect or expired.',
    });
  const token = `gho_${randomBytes(18).toString('hex')}`;
  tokens.add(token);
  json(response, 200, { access_token: token, scope: 'read:user,user:email', token_type: 'bearer' });
};
