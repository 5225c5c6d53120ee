import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { listen } from '../edge/http/listen.ts';

const END_MS = 10_000;

export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await exited;
  clearTimeout(timer);
};

const forProfilers = process.env.NODE_ARGUMENTS?.split(' ') ?? [];

/** As the documentation of all peers advises. */
const PRODUCTION = { NODE_ENV: 'production', GRAPHILE_ENV: 'production' };

/** Starts a server in a process of its own, which reports its address. */
export const startServer = async (
  module: string,
  args: readonly string[] = [],
  nodeArguments: readonly string[] = [],
) => {
  const child = fork(new URL(module, import.meta.url), args, {
    env: { ...process.env, ...PRODUCTION },
    execArgv: [...forProfilers, ...nodeArguments],
  });
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${module} did not start`)));
  const [message] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return { ...message, pid: child.pid, [Symbol.asyncDispose]: () => stop(child) };
};

type Annals = {
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  readonly pid: number | undefined;
};

/** Far above any bench: requests are counted, and none is refused. */
const UNITS = '1000000';
const LIMITS = {
  RATE_LIMIT: UNITS,
  RATE_LIMIT_BURST: UNITS,
  RATE_LIMIT_ANONYMOUS: UNITS,
  RATE_LIMIT_ANONYMOUS_BURST: UNITS,
};

/** Another checkout of the program, and arguments of Node. */
type Started = { readonly root?: string | undefined; readonly nodeArguments?: readonly string[] };

/**
 * All roles in one process, as `npm start` runs them, with its own client; `NODE_ARGUMENTS` are for
 * profilers.
 */
export const startAnnals = async (
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
  { root = fileURLToPath(new URL('..', import.meta.url)), nodeArguments = [] }: Started = {},
): Promise<Annals & AsyncDisposable> => {
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: dataDir,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...LIMITS,
    ...settings,
  };
  const child = spawn(process.execPath, [...forProfilers, ...nodeArguments, 'main.ts'], {
    cwd: root,
    env,
    stdio: ['ignore', settings.LOG_LEVEL === undefined ? 'inherit' : 'ignore', 'pipe'],
  });
  await ready(child.stderr);
  const { url, client } = JSON.parse(await readFile(join(dataDir, 'development-access.json'), 'utf8'));
  return { url, ...client, pid: child.pid, [Symbol.asyncDispose]: () => stop(child) };
};

/** The query role alone, which accepts tokens signed by these keys. */
export const startQueryRole = (dataDir: string, settings: Readonly<Record<string, string>>, jwks: object) =>
  startRole('query/main.ts', { DATA_DIR: dataDir, ...settings }, jwks);

/** A role in a process of its own, as an operator starts it. */
export const startRole = async (
  module: string,
  settings: Readonly<Record<string, string>>,
  jwks: object,
  nodeArguments: readonly string[] = [],
) => {
  await using starting = new AsyncDisposableStack();
  const authorization = createServer(
    (_request, response) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks)),
  );
  const jwksUrl = await listen(authorization, { port: 0, host: '127.0.0.1', setting: 'PORT' });
  starting.defer(() => void authorization.close());
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    PORT: port,
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    ...LIMITS,
    JWKS_URL: jwksUrl,
    ...settings,
  };
  const child = spawn(process.execPath, [...forProfilers, ...nodeArguments, module], {
    cwd: new URL('..', import.meta.url),
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  starting.defer(() => stop(child));
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`${module} did not start`);
    await delay(READY_LOOK_MS);
  }
  const running = starting.move();
  return { url, pid: child.pid, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const READY_LOOK_MS = 50;

export const freePort = async (): Promise<string> => {
  const server = createServer();
  const { port } = new URL(await listen(server, { port: 0, host: '127.0.0.1', setting: 'PORT' }));
  server.close();
  return port;
};

const ready = async (output: AsyncIterable<unknown>): Promise<void> => {
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    if (text.includes('Ctrl+C')) return;
  }
  throw new Error(`Annals did not start: ${text}`);
};

/** An access token, valid for five minutes. */
export const tokenOf = async ({ url, clientId, secret }: Annals, scope: string): Promise<string> => {
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`no token: ${JSON.stringify(answer)}`);
  return answer.access_token;
};
