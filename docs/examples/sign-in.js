/**
 * Signs a user in to Annals, and reads in their name: the authorization code flow with PKCE (OAuth 2.1), with
 * Node alone. CLIENT_ID is a client with this REDIRECT_URI, without a secret.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

const annals = process.env.ANNALS_URL ?? 'http://localhost:4000';
const client = process.env.CLIENT_ID ?? '';
const redirect = new URL(process.env.REDIRECT_URI ?? 'http://localhost:3000/callback');
const random = () => randomBytes(32).toString('base64url');

/** Any OpenID Connect server publishes its endpoints here. */
const server = await (await fetch(`${annals}/.well-known/openid-configuration`)).json();

/**
 * A stolen code is useless without the verifier, which stays here; the state proves that the answer belongs
 * to our request.
 */
const verifier = random();
const state = random();
const challenge = createHash('sha256').update(verifier).digest('base64url');
const question = {
  response_type: 'code',
  client_id: client,
  redirect_uri: redirect.href,
  code_challenge: challenge,
  code_challenge_method: 'S256',
  scope: 'openid read:users read:articles',
  state,
};

/** The parameters of the redirect. */
const waitForBrowser = async () => {
  const listener = createServer();
  listener.listen(Number(redirect.port || 80));
  await once(listener, 'listening');
  console.log(`Open ${server.authorization_endpoint}?${new URLSearchParams(question)}`);
  for (;;) {
    const [request, response] = await once(listener, 'request');
    const asked = URL.parse(request.url, redirect);
    const isIt = asked?.pathname === redirect.pathname;
    response
      .writeHead(isIt ? 200 : 404, { 'content-type': 'text/plain' })
      .end(isIt ? 'Thank you. Go back to the terminal.' : '');
    if (!isIt) continue;
    listener.close();
    return asked.searchParams;
  }
};

const given = await waitForBrowser();
if (given.get('state') !== state) throw new Error('this answers another question');
if (!given.has('code')) throw new Error(`not allowed: ${given.get('error')}`);
const answer = await fetch(server.token_endpoint, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: client,
    code: given.get('code'),
    code_verifier: verifier,
    redirect_uri: redirect.href,
  }),
});
const tokens = await answer.json();
if (!answer.ok) throw new Error(`no token: ${tokens.error_description ?? tokens.error}`);
const me = await (
  await fetch(`${annals}/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } })
).json();
console.log(`Signed in: ${me.name} <${me.email}>, ${me.role}`);
