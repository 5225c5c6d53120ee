import type { Pool } from '#shared/database/pool.ts';
import type { RestClient } from '../../testing/http/rest-client.ts';
import type { WebhookSink } from '../../testing/http/webhook-sink.ts';
import { until } from '../../testing/until.ts';
import { newDpopKey } from '../engines/oauth.ts';

type Scene = {
  readonly ask: RestClient;
  readonly token: string;
  readonly admin: string;
  readonly sink: WebhookSink;
  readonly pool: Pool;
};

/** Values that nobody may log, beside secrets that the requests name. */
export const UNSPEAKABLE = {
  header: 'Bearer header-canary-4711',
  inUrl: 'url-canary-4712',
  answer: 'answer-canary-4713',
  text: 'comment-canary-4714',
  description: 'description-canary-4715',
  broken: 'broken-canary-4716',
  email: 'email-canary-4717@example.com',
  name: 'Person-Canary-4718',
  password: 'password-canary-4719',
  idempotency: 'idempotency-canary-4720',
} as const;

const FORM = 'application/x-www-form-urlencoded';

/** Successes, and failures of every known kind, each with a secret in it. */
export const spendEventfulDay = async (scene: Scene): Promise<void> => {
  await useWebhook(scene);
  await mistakeThings(scene);
  await breakInside(scene);
};

const useWebhook = async ({ ask, token, sink }: Scene): Promise<void> => {
  const { header, inUrl, answer, description } = UNSPEAKABLE;
  sink.behave((_, response) => void response.writeHead(500, { 'x-answer': answer }).end(answer));
  const url = `${sink.url}/hook?token=${inUrl}`;
  const headers = { Authorization: header };
  const made = await ask('POST', '/webhooks', {
    token,
    body: { url, description, eventTypes: ['article.*'], headers },
  });
  const path = `/webhooks/${(made.body as { id: number }).id}`;
  await ask('POST', `${path}/rotate-secret`, { token });
  await ask('POST', `${path}/test`, { token });
  await until(
    () => sink.received.length,
    (received) => received > 1,
  );
  // Nothing listens there.
  await ask('PATCH', path, { token, body: { url: `http://127.0.0.1:9/?token=${inUrl}`, headers } });
  await ask('POST', `${path}/test`, { token });
  const dead = async () =>
    (await ask('GET', `${path}/deliveries?state=dead`, { token })).body as readonly object[];
  await until(dead, (deliveries) => deliveries.length > 1);
};

const mistakeThings = async ({ ask, token, admin }: Scene): Promise<void> => {
  const { text, broken, email, name, password, idempotency } = UNSPEAKABLE;
  const proof = await (await newDpopKey()).proof();
  const form = (fields: Readonly<Record<string, string>>) => ({
    type: FORM,
    body: new URLSearchParams(fields).toString(),
  });
  const person = { name, email, role: 'reader' };
  await Promise.all([
    ask('POST', '/users', { token: admin, body: person }),
    ask('POST', '/users', { token: admin, body: { ...person, role: broken } }),
    ask('POST', '/users', { token, body: person, headers: { 'idempotency-key': idempotency } }),
    ask('POST', '/articles', { token, body: `{"title":"${broken}", ${broken}` }),
    ask('POST', '/articles', { token, body: `${broken}` }),
    ask('POST', '/graphql', {
      token,
      body: { query: `{ ${broken.replaceAll('-', '_')} }`, variables: { email } },
    }),
    ask('POST', '/graphql', {
      token,
      body: {
        query: 'mutation ($e: String!) { createUser(input: { name: "N", email: $e }) { id } }',
        variables: { e: email },
      },
    }),
    ask('POST', '/articles/1/comments', { token, body: { text } }),
    ask('GET', `/users?access_token=${broken}&email=${email}`),
    ask('GET', '/me', { headers: { authorization: `Bearer ${broken}` } }),
    ask('GET', '/me', { headers: { authorization: `DPoP ${broken}`, dpop: proof } }),
    ask('GET', '/me', { headers: { cookie: `session=${broken}` } }),
    ask('POST', '/token', {
      ...form({
        grant_type: 'authorization_code',
        client_id: 'journal-app',
        code: broken,
        code_verifier: broken,
      }),
    }),
    ask('POST', '/token', {
      ...form({ grant_type: 'refresh_token', client_id: 'journal-app', refresh_token: broken }),
    }),
    ask('POST', '/token', {
      ...form({ grant_type: 'client_credentials' }),
      headers: { authorization: `Basic ${btoa(`test-admin:${password}`)}` },
    }),
    ask('POST', '/token', { ...form({ grant_type: 'password', username: email, password }) }),
    ask('POST', '/introspect', {
      ...form({ token: broken, client_secret: password, client_id: 'test-admin' }),
    }),
    ask('POST', '/revoke', { ...form({ token: broken, client_id: 'journal-app' }) }),
    ask('POST', '/sign-in/x', { ...form({ email, password, token: broken }) }),
    ask('POST', '/sign-up', { ...form({ email, name, password, token: broken }) }),
    ask('POST', '/register', {
      body: { client_name: name, redirect_uris: [`https://${broken}.example/`], client_secret: password },
    }),
    ask('GET', `/authorize?client_id=journal-app&state=${broken}&login_hint=${email}&code_challenge=x`),
  ]);
};

/** For an internal error, everything known about it goes into the log. */
const breakInside = async ({ ask, token, admin, pool }: Scene): Promise<void> => {
  const { email, name, broken } = UNSPEAKABLE;
  await pool.query('alter table auth.client rename to client_away');
  try {
    await Promise.all([
      ask('GET', '/clients', { token: admin }),
      ask('POST', '/clients', { token: admin, body: { name, clientId: broken } }),
      ask('POST', '/token', {
        type: FORM,
        body: `grant_type=client_credentials&client_id=nobody-here&client_secret=${broken}`,
      }),
      ask('GET', `/authorize?client_id=somebody-else&login_hint=${email}`),
      ask('GET', '/clients', { token }),
    ]);
  } finally {
    await pool.query('alter table auth.client_away rename to client');
  }
};
