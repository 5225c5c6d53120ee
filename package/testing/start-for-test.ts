import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { waitOf } from '#kernel/registry/kind-of.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import { freePort } from '#shared/database/embedded/free-port.ts';
import { policyOf } from '#shared/policy.ts';
import { loadConfig } from '#shared/process/config.ts';
import { createLog } from '#shared/process/log.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { signUpRoleOf } from '#shared/sign-up-role.ts';
import { startAll } from '../../all-roles.ts';
import { createClient } from '../../client/client.ts';
import type { Client } from '../../client/types/client.ts';
import type { TestOptions, TestSystem } from './for-test.ts';
import { createTestDatabase } from './test-database.ts';

type Started = Awaited<ReturnType<typeof startAll>>;

const STARTS_MAX = 3;

/** All roles in this process. Its address stands in tokens, so the port is chosen before the start; another program may take it in between. */
export const startSystem = async <D extends Domain>(domain: D, { settings = {} }: TestOptions): Promise<TestSystem<D>> => {
  const refused = Object.keys(settings).find((name) => CHOSEN.has(name));
  if (refused !== undefined) throw new StartRefused(`startForTest chooses ${refused} by itself: leave it out of the settings.`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(domain, settings);
    } catch (error) {
      if (attempt === STARTS_MAX || !(error instanceof StartRefused && error.message.includes('is in use'))) throw error;
    }
  }
};

const CHOSEN: ReadonlySet<string> = new Set(['NODE_ENV', 'PORT', 'PUBLIC_URL', 'DATA_DIR', 'METRICS_PORT']);

/** All requests of a test come from one address. */
const PLENTY = {
  RATE_LIMIT: '100000',
  RATE_LIMIT_BURST: '100000',
  RATE_LIMIT_ANONYMOUS: '100000',
  RATE_LIMIT_ANONYMOUS_BURST: '100000',
};

const startOnce = async <D extends Domain>(domain: D, given: Readonly<Record<string, string>>): Promise<TestSystem<D>> => {
  await using opening = new AsyncDisposableStack();
  const dataDir = opening.adopt(await mkdtemp(join(tmpdir(), 'annals-test-')), (path) => rm(path, { recursive: true, force: true }));
  const database = given.DATABASE_URL === undefined ? opening.use(await createTestDatabase()).url : given.DATABASE_URL;
  const port = String(await freePort());
  const config = loadConfig({
    LOG_LEVEL: 'error',
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...PLENTY,
    ...given,
    NODE_ENV: 'test',
    DATABASE_URL: database,
    DATA_DIR: dataDir,
    PORT: port,
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  signUpRoleOf(domain, config.signUp);
  let aheadMs = 0;
  const told = new AbortController();
  const resources = opening.use(new AsyncDisposableStack());
  const context = { config, domain, resources, signal: told.signal, log: createLog({ level: config.logLevel }) };
  const started = await startAll(context, { clock: { aheadMs: () => aheadMs } });
  const { url } = started;
  const settled = () => untilSettled(started.foundation, () => aheadMs);
  const kept = opening.move();
  return {
    url,
    client: createClient<D>({ url }),
    async as(role) {
      const client = await clientAs<D>(started, role);
      // Others can read of the account.
      await settled();
      return client;
    },
    settled,
    async advance(duration) {
      aheadMs += waitOf(duration, 'advance');
      await settled();
    },
    async [Symbol.asyncDispose]() {
      told.abort();
      await kept.disposeAsync();
    },
  };
};

/** A service with an account of its own, as an administrator would register it; it asks for its tokens itself. */
const clientAs = async <D extends Domain>({ url, foundation: { domain }, auth }: Started, role: string): Promise<Client<D>> => {
  const roles: readonly string[] = rolesOf(domain);
  if (!roles.includes(role)) throw new StartRefused(`${domain.name} has no role ${role}: it has ${roles.join(', ')}.`);
  const { scopes } = policyOf(domain);
  const settings = clientSettingsOf(domain).ClientSettings.parse({
    name: `Test ${role}`,
    grantTypes: ['client_credentials'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes,
    defaultScopes: scopes,
    serviceAccountRole: role,
  });
  const clientId = `test-${role}-${randomUUID()}`;
  const by = { caller: { kind: 'system', name: 'test' }, requestId: clientId } as const;
  const { secret = '' } = await auth.clients.register({ clientId, settings }, by);
  const authorization = `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64')}`;
  let token = await requestToken(url, authorization);
  return createClient<D>({
    url,
    async token() {
      if (performance.now() >= token.until) token = await requestToken(url, authorization);
      return token.value;
    },
  });
};

const WAIT_MAX_MS = 30_000;
const LOOK_MS = 10;

/** The authorization server follows the log, and may not have heard of the account yet. */
const requestToken = async (url: string, authorization: string): Promise<{ readonly value: string; readonly until: number }> => {
  const deadline = performance.now() + WAIT_MAX_MS;
  for (;;) {
    const began = performance.now();
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const answer = await fetch(`${url}/token`, { method: 'POST', headers: { authorization }, body });
    const text = await answer.text();
    if (answer.ok) {
      const { access_token: value, expires_in: livesS } = JSON.parse(text);
      return { value, until: began + (livesS * 1_000) / 2 };
    }
    if (performance.now() > deadline) throw new Error(`there is no token: ${answer.status} ${text}`);
    await delay(LOOK_MS);
  }
};

/** The followers whose work reads and timers depend on have come to the end of the log, nothing is left to do, and no timer is due. */
const untilSettled = async ({ pool, eventLog }: Started['foundation'], aheadMs: () => number): Promise<void> => {
  const deadline = performance.now() + WAIT_MAX_MS;
  for (;;) {
    const head = await eventLog.head();
    const { rows } = await pool.query<{ isSettled: boolean }>(
      `select (select count(*) = 2 from public.follower_checkpoint where follower in ('reactions', 'projector') and position >= $1)
         and not exists (select from process_manager.task) and not exists (select from process_manager.timer_mark)
         and not exists (select from process_manager.timer where due_at <= clock_timestamp() + $2 * interval '1 millisecond') as "isSettled"`,
      [head, aheadMs()],
    );
    // What a timer has just appended is to be projected too.
    if (rows[0]?.isSettled && (await eventLog.head()) === head) return;
    if (performance.now() > deadline) throw new Error(`not everything has followed from the events after ${WAIT_MAX_MS / 1_000} seconds`);
    await delay(LOOK_MS);
  }
};
