import { randomUUID } from 'node:crypto';
import { type Reply, type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { createRandom } from '../../testing/random.ts';
import { SEED } from '../../testing/seed.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from '../engines/installation.ts';
import { picture } from '../engines/pictures.ts';

export type Site = Pick<Installation, 'url' | 'admin' | 'fetch'>;
export type Failure = { readonly at: Date; readonly what: string; readonly why: unknown };

/**
 * Clients that use every role, one request after the other, and record each failure. They end with the test,
 * also if that fails: without a server, requests fail so fast that their records fill the memory.
 */
type SteadyLoad = AsyncDisposable & {
  /** Resolves when each client has completed `rounds` more. */
  untilAnswered(rounds: number): Promise<unknown>;
  end(): Promise<{ readonly requests: number; readonly late: number; readonly failures: readonly Failure[] }>;
};

/** The accepted share of late answers on an overloaded machine. */
export const LATE_MAX = 0.02;

const CLIENTS = 4;
const PATIENCE_MS = 120_000;

export const startLoad = async (site: Site): Promise<SteadyLoad> => {
  const failures: Failure[] = [];
  let [requests, late] = [0, 0];
  const request = restClientOf(site);
  const ask: RestClient = async (method, path, options) => {
    requests += 1;
    const reply = await request(method, path, options).catch((error: Error) => ({
      status: 0,
      headers: new Headers(),
      body: String(error.cause ?? error),
    }));
    const { status, headers, body } = reply;
    if (status >= 200 && status < 400 && !hasErrors(body)) return reply;
    const why = { status, retryAfter: headers.get('retry-after'), body };
    if (isLate(body)) late += 1;
    else failures.push({ at: new Date(), what: `${method} ${path}`, why });
    throw new Error(`${method} ${path} failed`);
  };
  await knownClient(site);
  const rounds = Array.from({ length: CLIENTS }, () => 0);
  const ending = new AbortController();
  const clients = rounds.map(async (_, client) => {
    while (!ending.signal.aborted) {
      // Failures are reported at the end.
      await round(site, ask).catch(() => {});
      rounds[client] = (rounds[client] ?? 0) + 1;
    }
  });
  const stop = async () => {
    ending.abort();
    await Promise.all(clients);
  };
  return {
    untilAnswered(count) {
      const targets = rounds.map((had) => had + count);
      return until(
        () => rounds.every((had, client) => had >= (targets[client] ?? 0)),
        (is) => is,
        PATIENCE_MS,
      );
    },
    async end() {
      await stop();
      return { requests, late, failures };
    },
    [Symbol.asyncDispose]: stop,
  };
};

/** A late answer of a busy machine proves nothing about restarts. */
const isLate = (body: unknown): boolean =>
  /"code":"(?:not_yet_visible|overloaded)"/.test(JSON.stringify(body));

/** GraphQL answers 200 to failures. */
const hasErrors = (body: unknown): boolean => typeof body === 'object' && body !== null && 'errors' in body;

const formOf = ({ admin }: Site) => {
  const authorization = `Basic ${Buffer.from(`${admin.clientId}:${encodeURIComponent(admin.secret)}`).toString('base64')}`;
  return {
    body: 'grant_type=client_credentials',
    type: 'application/x-www-form-urlencoded',
    headers: { authorization },
  };
};

/** The authorization server follows the log, and may not know the first client's user yet. */
const knownClient = (site: Site): Promise<Reply> =>
  until(
    () => restClientOf(site)('POST', '/token', formOf(site)),
    ({ status }) => status === 200,
    PATIENCE_MS,
  );

export const tokenOf = async (site: Site, ask: RestClient = restClientOf(site)): Promise<string> =>
  ((await ask('POST', '/token', formOf(site))).body as { access_token: string }).access_token;

const random = createRandom(SEED);

/** Half of the POSTs have an idempotency key; nothing is retried here. */
const maybeKeyed = (): Readonly<Record<string, string>> =>
  random() < 0.5 ? { 'idempotency-key': randomUUID() } : {};

const round = async (site: Site, ask: RestClient): Promise<void> => {
  const token = await tokenOf(site, ask);
  const draft = { title: randomUUID(), body: 'x', tags: [], publish: true };
  const made = await ask('POST', '/articles', { token, body: draft, headers: maybeKeyed() });
  const path = made.headers.get('location') ?? '/nowhere';
  await ask('GET', path, { token, headers: seeing(made) });
  const edited = await ask('PATCH', path, { token, body: { title: randomUUID() } });
  await ask('GET', path, { headers: seeing(edited) });
  await ask('PUT', `${path}/cover`, { token, body: picture('image/png', 2_000), type: 'image/png' });
  const create = 'mutation ($input: PostInput!) { createPost(input: $input) { id title author { name } } }';
  const variables = { input: { title: randomUUID(), body: 'y' } };
  await ask('POST', '/graphql', { token, body: { query: create, variables }, headers: maybeKeyed() });
  await ask('POST', '/graphql', {
    token,
    body: { query: '{ posts(limit: 3) { id title author { name } } }' },
  });
  const hook = await ask('POST', '/webhooks', {
    token,
    body: { url: 'http://127.0.0.1:9/', eventTypes: ['user.deleted'] },
    headers: maybeKeyed(),
  });
  const webhook = hook.headers.get('location') ?? '/nowhere';
  await ask('GET', `${webhook}/deliveries`, { token, headers: seeing(hook) });
  await ask('POST', `${webhook}/test`, { token, headers: seeing(hook) });
  await ask('DELETE', webhook, { token });
};

const seeing = ({ headers }: Reply) => ({ 'consistency-token': headers.get('consistency-token') ?? '' });
