import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import type { ProcessContext } from '#process/run.ts';
import { signUpRoleOf } from '#process/sign-up-role.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { ALL_PARTS } from '../../parts.ts';
import { PLENTY, type Settings } from '../../testing/installation.ts';
import { createTestDatabase } from './test-database.ts';

type InProcess<Started> = AsyncDisposable & { readonly settings: Settings; readonly started: Started };
type Start<Started> = (context: ProcessContext) => Promise<Started>;

const STARTS_MAX = 3;

/**
 * Starts a role in this process, on a database and a folder of its own unless the settings name them. Tokens
 * contain the address, so the port is chosen before the start; another program may take it in between. A
 * replica keeps the public address of the others.
 */
export const startInProcess = async <Started>(
  domain: Domain,
  given: Settings,
  start: Start<Started>,
): Promise<InProcess<Started>> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(domain, given, start);
    } catch (error) {
      if (attempt === STARTS_MAX || !(error instanceof StartRefused && error.message.includes('is in use')))
        throw error;
    }
  }
};

const startOnce = async <Started>(
  domain: Domain,
  given: Settings,
  start: Start<Started>,
): Promise<InProcess<Started>> => {
  await using opening = new AsyncDisposableStack();
  const port = String(await freePort());
  const settings = {
    LOG_LEVEL: 'error',
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: given.DATA_DIR ?? opening.use(await createTestFolder()).path,
    DATABASE_URL: given.DATABASE_URL ?? opening.use(await createTestDatabase()).url,
    ...PLENTY,
    ...given,
    NODE_ENV: 'test',
    METRICS_PORT: '0',
    PORT: port,
    PUBLIC_URL: given.PUBLIC_URL ?? `http://127.0.0.1:${port}`,
  };
  const config = loadConfig(settings);
  signUpRoleOf(domain, config.signUp);
  const stopping = new AbortController();
  const resources = opening.use(new AsyncDisposableStack());
  const started = await start({
    config,
    domain,
    parts: ALL_PARTS,
    clock: REAL_TIME,
    resources,
    signal: stopping.signal,
    log: createLog({ level: config.logLevel }),
  });
  const kept = opening.move();
  return {
    settings,
    started,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await kept.disposeAsync();
    },
  };
};

export const createTestFolder = async (): Promise<AsyncDisposable & { readonly path: string }> => {
  const path = await mkdtemp(join(tmpdir(), 'annals-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};
