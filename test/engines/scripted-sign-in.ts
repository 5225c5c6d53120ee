import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt, SignJWT } from 'jose';
import { clientModule, IMPORT_MAP } from './client-modules.ts';
import { startLocalServer } from './local-server.ts';

/**
 * A site with pages that sign in, and a scripted server behind it that rotates refresh tokens and can fail in
 * every way.
 */
export type ScriptedSignIn = AsyncDisposable & {
  readonly url: string;
  /** The forms sent to `/token`, and revoked tokens. */
  readonly forms: URLSearchParams[];
  readonly revoked: string[];
  /** The authorizations of requests, and their proofs. */
  readonly sent: (string | undefined)[];
  readonly proofs: Record<string, unknown>[];
  readonly isReused: () => boolean;
  /** Refuses all current access tokens. */
  endAccess(): void;
  /** Refuses all current refresh tokens. */
  endRefresh(): void;
  /** Each replaces the next token request with an error. */
  readonly troubles: (number | 'cut' | 'lost' | 'nonce')[];
  /** Answers of `/token` wait for it. */
  gate: Promise<void>;
  /** The answer of the sign-in page, instead of a code. */
  answer: Record<string, string> | undefined;
  /** By how much its clock is ahead. */
  aheadS: number;
  isNonceDemanded: boolean;
};

const OPTIONS: Readonly<Record<string, object>> = {
  '/browser': {},
  '/tab': { storage: 'tab' },
  '/memory': { storage: 'memory' },
  '/dpop': { dpop: true },
};

const pageWith = (options: object): string => `<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="importmap">${IMPORT_MAP}</script>
<script type="module">
  import { createClient } from 'annals/client';
  import { browserSession } from 'annals/client/sign-in';
  window.received = [];
  const url = location.origin;
  window.session = browserSession({ url, clientId: 'page', retryForMs: 20_000, ...${JSON.stringify(options)} });
  session.onChange((isSignedIn) => received.push(isSignedIn));
  window.client = createClient({ url, token: session });
  window.read = () => client.articles.get(7).then(({ id }) => id, ({ code, message }) => ({ code, message }));
  window.started = await session.start().catch(({ code, message }) => ({ code, message }));
</script>`;

const KEY = new TextEncoder().encode('a secret of the server that nobody guesses');
const nowS = () => Math.floor(Date.now() / 1_000);

export const openScriptedSignIn = async (): Promise<ScriptedSignIn> => {
  const challenges = new Map<string, string>();
  const [access, refresh, spent] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let isReused = false;
  const site: Omit<ScriptedSignIn, keyof AsyncDisposable | 'url'> & { url: string } = {
    url: '',
    forms: [],
    revoked: [],
    sent: [],
    proofs: [],
    troubles: [],
    gate: Promise.resolve(),
    answer: undefined,
    aheadS: 0,
    isNonceDemanded: false,
    isReused: () => isReused,
    endAccess: () => access.clear(),
    endRefresh: () => refresh.clear(),
  };

  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const code = randomUUID();
    challenges.set(code, query.get('code_challenge') ?? '');
    const answer = { state: query.get('state') ?? '', iss: site.url, ...(site.answer ?? { code }) };
    response
      .writeHead(302, { Location: `${query.get('redirect_uri')}?${new URLSearchParams(answer)}` })
      .end();
  };

  const grantOf = (form: URLSearchParams): boolean => {
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (form.get('grant_type') === 'authorization_code') {
      const isRight = challenges.get(form.get('code') ?? '') === challenge;
      challenges.delete(form.get('code') ?? '');
      return isRight;
    }
    const token = form.get('refresh_token') ?? '';
    if (spent.has(token)) {
      isReused = true;
      refresh.clear();
    }
    spent.add(token);
    return refresh.delete(token);
  };

  const answerToken = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = await formOf(request);
    site.forms.push(form);
    await site.gate;
    const trouble = site.troubles.shift();
    if (trouble === 'cut') return void response.destroy();
    const send = (status: number, body: object, headers = {}) =>
      void response
        .writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '0', ...headers })
        .end(JSON.stringify(body));
    if (trouble === 'nonce') return send(400, { error: 'use_dpop_nonce' }, { 'DPoP-Nonce': 'of-token' });
    if (typeof trouble === 'number') return send(trouble, { error: 'temporarily_unavailable' });
    const isGranted = grantOf(form);
    // The grant is used, but the answer is lost.
    if (trouble === 'lost') return void response.destroy();
    if (!isGranted)
      return send(400, { error: 'invalid_grant', error_description: 'it is of no use any more' });
    const { dpop } = request.headers;
    if (dpop !== undefined) site.proofs.push(decodeJwt(String(dpop)));
    const [token, refreshToken] = [await tokenAt(nowS() + site.aheadS), randomUUID()];
    access.add(token);
    refresh.add(refreshToken);
    send(200, {
      access_token: token,
      token_type: dpop === undefined ? 'Bearer' : 'DPoP',
      expires_in: 300,
      refresh_token: refreshToken,
    });
  };

  const read = (request: IncomingMessage, response: ServerResponse): void => {
    const { authorization, dpop } = request.headers;
    site.sent.push(authorization);
    const proof = dpop === undefined ? undefined : decodeJwt(String(dpop));
    if (proof !== undefined) site.proofs.push(proof);
    const isNonceMissing = site.isNonceDemanded && proof?.nonce !== 'of-articles';
    const isRight =
      authorization === undefined || (access.has(authorization.split(' ')[1] ?? '') && !isNonceMissing);
    const challenge = { 'DPoP-Nonce': 'of-articles', 'WWW-Authenticate': 'DPoP error="use_dpop_nonce"' };
    response
      .writeHead(isRight ? 200 : 401, {
        'Content-Type': 'application/json',
        ...(isNonceMissing && challenge),
      })
      .end('{"id":7}');
  };

  const server = await startLocalServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    const options = OPTIONS[pathname];
    if (options !== undefined) response.setHeader('Content-Type', 'text/html').end(pageWith(options));
    else if (pathname.startsWith('/annals/'))
      response
        .setHeader('Content-Type', 'text/javascript')
        .end(clientModule(pathname.slice('/annals/'.length)));
    else if (pathname === '/authorize') authorize(searchParams, response);
    else if (pathname === '/token') await answerToken(request, response);
    else if (pathname === '/revoke') {
      site.revoked.push((await formOf(request)).get('token') ?? '');
      response.end();
    } else if (pathname === '/articles/7') read(request, response);
    else response.writeHead(404).end();
  });
  site.url = server.url;
  return Object.assign(site, { [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
};

const formOf = async (request: IncomingMessage): Promise<URLSearchParams> => {
  let form = '';
  for await (const chunk of request) form += chunk;
  return new URLSearchParams(form);
};

const tokenAt = (iat: number): Promise<string> =>
  new SignJWT({ jti: randomUUID(), iat }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(KEY);
