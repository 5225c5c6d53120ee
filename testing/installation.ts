import type { Domain } from '#kernel/registry/registry.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { policyOf } from '#shared/policy.ts';
import { runCommandLine } from '../command-line/program.ts';

export type Settings = Readonly<Record<string, string>>;

/** All of Annals as an operator runs it, reached over HTTP alone. */
export type Installation = AsyncDisposable & {
  readonly domain: Domain;
  /** Its public address: the issuer of its tokens, and the base of its links. */
  readonly url: string;
  /** Works like `fetch` for URLs that begin with `url`, wherever the installation listens. */
  readonly fetch: typeof fetch;
  /** The first client of an installation: a service that acts as an administrator. */
  readonly admin: { readonly clientId: string; readonly secret: string };
  /** The settings of its start, for operator commands. */
  readonly settings: Settings;
};

/**
 * All requests of a test come from one address, and one administrator owns many webhooks. The machine may be
 * so busy that a process lags for seconds.
 */
export const PLENTY = {
  EVENT_LOOP_LAG_MAX_MS: '60000',
  WEBHOOKS_PER_OWNER_MAX: '1000',
  RATE_LIMIT: '100000',
  RATE_LIMIT_BURST: '100000',
  RATE_LIMIT_ANONYMOUS: '100000',
  RATE_LIMIT_ANONYMOUS_BURST: '100000',
};

const ADMIN = 'test-admin';

export const createAdmin = async (settings: Settings, domain: Domain): Promise<Installation['admin']> => {
  const args = ['--id', ADMIN, '--service', '--role', 'admin', '--scope', policyOf(domain).scopes.join(' ')];
  const output = await operate(['client', 'create', 'Administrator', ...args], settings, domain);
  const secret = /"secret": "([^"]+)"/.exec(output)?.[1];
  if (secret === undefined) throw new Error(`there is no first client:\n${output}`);
  return { clientId: ADMIN, secret };
};

/**
 * Runs an operator command in this process, because starting a process costs more than the command. Returns
 * its output.
 */
export const operate = async (
  args: readonly string[],
  settings: Settings,
  domain: Domain,
): Promise<string> => {
  const printed: string[] = [];
  const exit = await runCommandLine([...args], {
    domain,
    // No command of an operator that a test runs needs one.
    parts: [],
    environment: { NODE_ENV: 'test', ...settings },
    clock: REAL_TIME,
    signal: new AbortController().signal,
    write: async (line) => void printed.push(line),
    complain: (line) => void printed.push(line),
  });
  const output = printed.join('\n');
  if (exit !== 0) throw new Error(`annals ${args.join(' ')} ended with ${exit}:\n${output}`);
  return output;
};
