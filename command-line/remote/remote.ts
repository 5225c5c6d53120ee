import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { createClient } from '../../client/client.ts';
import { type Listing, listingOf, pageIn } from '../../client/pages.ts';
import { jsonIn, NoAnswer, Problem } from '../../client/problem.ts';
import { requesterOf } from '../../client/requests.ts';
import type { Token } from '../../client/session.ts';
import { clientCredentials } from '../../client/sign-in/client-credentials.ts';
import type { EventQuery } from '../../client/types/events.ts';
import type { Given } from '../arguments/command.ts';
import { notAtTheMoment } from '../installation/not-at-the-moment.ts';
import { ACCESS_OPTIONS, readTokenRequest, readUrl } from '../installation/token.ts';
import type { Terminal } from '../terminal.ts';

/** The options of every command that asks the running installation, here or elsewhere. */
export const REMOTE_OPTIONS = {
  ...ACCESS_OPTIONS,
  json: { type: 'boolean', description: 'Prints JSON for programs: one object, or one line per item.' },
} as const;

type Query = Readonly<Record<string, string | number | undefined>>;

type AnyRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

/** The running installation, by its public interface. */
export type Remote = {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  /** The response, to read it as it comes. */
  answer(path: string, query: Query, type: string): Promise<Response>;
  list<T>(path: string, query?: Query): Listing<T>;
  /** A write, retried under one idempotency key. */
  write(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Response>;
  /** Any request; a write is retried under one key. The caller reads the answer as it comes. */
  send(request: AnyRequest): Promise<Response>;
  /** New events across reconnects, each once, after a cursor or from now on. */
  follow(query: Query): AsyncIterable<unknown>;
};

/** A person waits: transient failures are retried for a few seconds, all others are reported. */
export const LIMITS = { timeoutMs: 15_000, retryForMs: 5_000, attemptsMax: 4 };

type Demands = {
  /** The option of a wrong field or parameter; by default its name. */
  readonly nameOf?: (name: string) => string;
  /** Without credentials, the requests have no token. */
  readonly isPublic?: boolean;
};

/** Works on the running installation; a refusal is one sentence. */
export const withRemote = async (
  given: Given,
  terminal: Terminal,
  work: (remote: Remote) => Promise<void>,
  demands: Demands = {},
): Promise<void> => {
  const { url, token } = await readAccess(given, terminal, demands);
  await withInstallation(url, terminal, () => work(openRemote(url, token, terminal.signal)), demands.nameOf);
};

/** Explains what an installation refuses, and that it does not answer. */
export const withInstallation = async (
  url: string,
  terminal: Terminal,
  work: () => Promise<void>,
  nameOf: (name: string) => string = (name) => name,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (terminal.signal.aborted) return;
    throw explain(error, url, nameOf);
  }
};

type Access = { readonly url: string; readonly token: Token | undefined };

/** The access: a token of the environment, else the client in the options, else the development client. */
const readAccess = async (
  given: Given,
  terminal: Terminal,
  { isPublic = false }: Demands,
): Promise<Access> => {
  const { ANNALS_TOKEN: token } = terminal.environment;
  if (token && !given.values.has('client')) return { url: await readUrl(given, terminal), token };
  try {
    const { url, clientId, secret: clientSecret } = await readTokenRequest(given, terminal);
    return { url, token: clientCredentials({ url, clientId, clientSecret, ...LIMITS }) };
  } catch (error) {
    if (!isPublic || !(error instanceof StartRefused)) throw error;
    return { url: await readUrl(given, terminal), token: undefined };
  }
};

const openRemote = (url: string, token: Token | undefined, signal: AbortSignal): Remote => {
  const client = createClient<Domain>({ url, token, ...LIMITS }).with({ signal });
  const read = (path: string, query: Query = {}) => client.request('GET', `${path}${searchOf(query)}`);
  return {
    url,
    get: async (path, query) => jsonIn(await read(path, query)),
    answer: (path, query, type) =>
      client.request('GET', `${path}${searchOf(query)}`, undefined, { headers: { Accept: type } }),
    list: (path, query) =>
      listingOf(async (after) => pageIn(await read(path, { ...query, ...(after && { after }) }))),
    // A person decides whatever the version is, also where changes must name one.
    write: (method, path, body) =>
      client.request(method, path, body, { idempotencyKey: crypto.randomUUID(), ifMatch: '*' }),
    send: ({ method, path, query, headers, body }) =>
      requesterOf({ url, token, ...LIMITS }).send(method, `${path}${searchOf(query)}`, {
        body,
        options: { headers, signal },
        isStreamed: true,
      }),
    // The server validates the parameters, because they depend on its domain.
    follow: ({ types, ...query }) =>
      client.follow(
        { ...query, ...(types !== undefined && { types: String(types).split(',') }) } as EventQuery<'*'>,
        { signal },
      ),
  };
};

const searchOf = (query: Query): string => {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters}`;
};

const NOT_OURS = 'unexpected_answer';

/** In words for the user of the command. */
const explain = (error: unknown, url: string, nameOf: (name: string) => string): unknown => {
  if (error instanceof NoAnswer)
    return new StartRefused(
      `Annals does not answer at ${url} (${error.message}): start it with npm start, or give its address with --url.`,
      {
        cause: error,
      },
    );
  if (!(error instanceof Problem)) return error;
  if (error.code === NOT_OURS)
    return new StartRefused(
      notAtTheMoment(url, error.status) ??
        `The server at ${url} is not Annals (${error.message}): give its address with --url.`,
      { cause: error },
    );
  const details = error.errors.map(
    ({ detail, pointer, parameter }) =>
      `\n  ${[nameOf(parameter ?? pointer ?? ''), detail].filter(Boolean).join(': ')}`,
  );
  return new StartRefused(
    `Annals refuses it (${error.code}): ${error.message}${details.join('')}${remedyOf(error)}`,
    { cause: error },
  );
};

const remedyOf = ({ code, details }: Problem): string => {
  if (code === 'insufficient_scope') {
    const scope = typeof details.scope === 'string' ? ` ${details.scope}` : '';
    return `\nThe token lacks the scope${scope}: grant it to the client (npm run annals -- help client).`;
  }
  if (code === 'forbidden')
    return '\nThe client acts in a role without that right: create one with --role admin (npm run annals -- help client create).';
  return '';
};
