import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { nginxMissing } from '../engines/nginx.ts';
import { type Reply, type RestClient, restClientOf } from '../engines/rest-client.ts';
import { until } from '../engines/until.ts';
import { COPIES, type Copies, ROLES, startCopies } from './copies.ts';

const CLIENTS = 4;
/** Every kind of request has been answered so often since a restart, before the next one. */
const ROUNDS_BETWEEN = 3;
/** Of all requests. */
const PUT_OFF_MAX = 0.005;
const PATIENCE_MS = 60_000;
const TEST_MS = 300_000;

if (nginxMissing !== undefined) process.stderr.write(`Rolling restarts are not tried: ${nginxMissing}.\n`);

test.skipIf(nginxMissing !== undefined)(
  'every copy of every role is restarted under load, and hardly a request has to be sent again',
  async () => {
    await using copies = await startCopies();
    const load = await startLoad(copies);
    const ended: unknown[] = [];
    for (let copy = 0; copy < COPIES; copy += 1) {
      for (const role of ROLES) {
        await load.untilAnswered(ROUNDS_BETWEEN);
        ended.push(await copies.restart(role, copy));
      }
    }
    await load.untilAnswered(ROUNDS_BETWEEN);
    const { requests, failures } = await load.end();
    console.log(`${requests} requests while ${ended.length} processes were restarted, and ${failures.length} to be sent again`);
    // What has reached a port, and not the process, when the process closes it, the ingress can only give back.
    expect(failures.filter(({ why }) => !isPutOff(why))).toEqual([]);
    expect(failures.length / requests).toBeLessThan(PUT_OFF_MAX);
    expect(ended).toEqual(ended.map(() => 0));
  },
  TEST_MS,
);

const isPutOff = (why: unknown): boolean =>
  typeof why === 'object' && why !== null && 'status' in why && why.status === 503 && 'retryAfter' in why && why.retryAfter !== null;

type Failure = { readonly what: string; readonly why: unknown };
type Load = {
  /** Resolves when each client has had so many more whole rounds. */
  untilAnswered(rounds: number): Promise<unknown>;
  end(): Promise<{ readonly requests: number; readonly failures: readonly Failure[] }>;
};

/** Clients who use every role, one request after the other, until they are ended. */
const startLoad = async (copies: Copies): Promise<Load> => {
  const request = restClientOf(copies);
  const failures: Failure[] = [];
  let requests = 0;
  const ask: RestClient = async (method, path, options) => {
    requests += 1;
    const what = `${method} ${path}`;
    const reply = await request(method, path, options).catch((error: Error) => {
      failures.push({ what, why: String(error.cause ?? error) });
      throw error;
    });
    if (reply.status < 400) return reply;
    failures.push({ what, why: { status: reply.status, retryAfter: reply.headers.get('retry-after'), body: reply.body } });
    throw new Error(`${what} failed`);
  };
  const authorization = `Basic ${Buffer.from(`${copies.admin.clientId}:${encodeURIComponent(copies.admin.secret)}`).toString('base64')}`;
  const form = { body: 'grant_type=client_credentials', type: 'application/x-www-form-urlencoded', headers: { authorization } };
  // The authorization server follows the log, and may not have heard of the first client's user yet.
  await until(
    () => request('POST', '/token', form),
    ({ status }) => status === 200,
  );
  const rounds = Array.from({ length: CLIENTS }, () => 0);
  const ending = new AbortController();
  const clients = rounds.map(async (_, client) => {
    while (!ending.signal.aborted) {
      // What has failed is told in the end.
      await round(ask, form).catch(() => {});
      rounds[client] = (rounds[client] ?? 0) + 1;
    }
  });
  return {
    untilAnswered(more) {
      const targets = rounds.map((count) => count + more);
      return until(
        () => rounds.every((count, client) => count >= (targets[client] ?? 0)),
        (is) => is,
        PATIENCE_MS,
      );
    },
    async end() {
      ending.abort();
      await Promise.all(clients);
      return { requests, failures };
    },
  };
};

const round = async (ask: RestClient, form: object): Promise<void> => {
  const { access_token: token } = (await ask('POST', '/token', form)).body as { access_token: string };
  const made = await ask('POST', '/articles', { token, body: { title: randomUUID(), body: 'x', tags: [], publish: true } });
  const path = made.headers.get('location') ?? '/nowhere';
  await ask('GET', path, { token, headers: seeing(made) });
  const edited = await ask('PATCH', path, { token, body: { title: randomUUID() } });
  await ask('GET', path, { headers: seeing(edited) });
  const mutation = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id title author { name } } }';
  const answer = await ask('POST', '/graphql', {
    token,
    body: { query: mutation, variables: { input: { title: randomUUID(), body: 'y' } } },
  });
  expectNoErrors(answer);
  const hook = await ask('POST', '/webhooks', { token, body: { url: 'http://127.0.0.1:9/', eventTypes: ['user.deleted'] } });
  const webhook = hook.headers.get('location') ?? '/nowhere';
  await ask('GET', `${webhook}/deliveries`, { token, headers: seeing(hook) });
  await ask('DELETE', webhook, { token });
};

const seeing = ({ headers }: Reply) => ({ 'consistency-token': headers.get('consistency-token') ?? '' });

const expectNoErrors = ({ body }: Reply): void => {
  if (typeof body === 'object' && body !== null && 'errors' in body) throw new Error(JSON.stringify(body.errors));
};
