import { execFile, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, stop } from '../processes.ts';

const run = promisify(execFile);

/** The newest version that Go 1.26 builds. */
export const VERSION = '0.36.8';
/** The program that its releases contain. */
const PROGRAM = `github.com/pocketbase/pocketbase/examples/base@v${VERSION}`;

/** Builds it as its releases are built, without C; the second time Go has all packages in its cache. */
export const buildPocketBase = async (
  folder: string,
): Promise<{ readonly program: string } | { readonly reason: string }> => {
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' };
  try {
    await run('go', ['install', '-ldflags=-s -w', PROGRAM], { env });
    return { program: join(folder, 'base') };
  } catch (error) {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string };
    return { reason: code === 'ENOENT' ? 'Go is not installed' : stderr || message };
  }
};

export type PocketBase = AsyncDisposable & {
  readonly url: string;
  readonly pid: number | undefined;
  /** A request of its administrator, and the answer. */
  ask<Answer>(method: string, path: string, body?: object): Promise<Answer>;
};

const ADMINISTRATOR = { identity: 'administrator@example.com', password: 'an analytical engine' };
const READY_LOOK_MS = 50;

/** Default settings, apart from those that the caller changes. */
export const startPocketBase = async (program: string, folder: string): Promise<PocketBase> => {
  const places = ['dir', 'hooksDir', 'migrationsDir', 'publicDir'].map((name) => [name, join(folder, name)]);
  for (const [, place] of places) await mkdir(String(place), { recursive: true });
  const args = places.map(([name, place]) => `--${name}=${place}`);
  await run(program, ['superuser', 'upsert', ...Object.values(ADMINISTRATOR), ...args]);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(program, ['serve', `--http=${address}`, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await using starting = new AsyncDisposableStack();
  starting.defer(() => stop(child));
  const url = `http://${address}`;
  while (
    !(await fetch(`${url}/api/health`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error('PocketBase did not start');
    await delay(READY_LOOK_MS);
  }
  const { token } = await exchange<SignedIn>(
    `${url}/api/collections/_superusers/auth-with-password`,
    'POST',
    ADMINISTRATOR,
  );
  const running = starting.move();
  return {
    url,
    pid: child.pid,
    ask: (method, path, body) => exchange(url + path, method, body, token),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

type SignedIn = { readonly token: string };

const exchange = async <Answer>(url: string, method: string, body?: object, token = ''): Promise<Answer> => {
  const headers = { 'content-type': 'application/json', authorization: token };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return JSON.parse(text);
};

/** A token of a user who signs in as users of a browser do. */
export const signIn = async ({ url }: PocketBase, identity: string, password: string): Promise<string> =>
  (
    await exchange<SignedIn>(`${url}/api/collections/users/auth-with-password`, 'POST', {
      identity,
      password,
    })
  ).token;
