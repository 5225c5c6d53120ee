import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { waitOf } from '#kernel/registry/kind-of.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { rolesOf } from '#kernel/registry/roles.ts';
import type { Part } from '#process/part.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { realTimeAhead } from '#shared/clock/real-time.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { policyOf } from '#shared/policy.ts';
import { startAll } from '../../all-roles.ts';
import type { Clients } from '../../auth/clients/clients.ts';
import { openAccounts } from '../../auth/part.ts';
import { createClient } from '../../client/client.ts';
import type { Client } from '../../client/types/client.ts';
import { untilSettled } from '../../command/process-manager/settled.ts';
import { ALL_PARTS } from '../../parts.ts';
import { withoutSignatures } from '../../testing/describe-domain/without-signatures.ts';
import { startInProcess } from './in-process.ts';
import type { TestOptions, TestSystem } from './test-system.ts';

type Started = Awaited<ReturnType<typeof startAll>>;

/** All roles in this process. */
export const startSystem = async <D extends Domain>(
  declared: D,
  { settings = {} }: TestOptions,
): Promise<TestSystem<D>> => {
  const domain = withoutSignatures(declared);
  const refused = Object.keys(settings).find((name) => CHOSEN.has(name));
  if (refused !== undefined)
    throw new StartRefused(`startForTest chooses ${refused} by itself: remove it from the settings.`);
  let aheadMs = 0;
  const clock = realTimeAhead(() => aheadMs);
  const accounts = observeAccounts();
  const { started, [Symbol.asyncDispose]: dispose } = await startInProcess(domain, settings, (context) =>
    startAll({
      ...context,
      parts: ALL_PARTS.map((part) => (part.name === accounts.part.name ? accounts.part : part)),
      clock,
    }),
  );
  const { url } = started;
  const settled = () => settle(started.foundation, clock);
  return {
    url,
    client: createClient<D>({ url }),
    async as(role) {
      const client = await clientAs<D>({ ...started, clients: await accounts.clients }, role);
      // The account is readable from now on.
      await settled();
      return client;
    },
    settled,
    async advance(duration) {
      aheadMs += waitOf(duration, 'advance');
      await settled();
    },
    [Symbol.asyncDispose]: dispose,
  };
};

/** The accounts, with the clients that they store. */
const observeAccounts = () => {
  const { promise: clients, resolve } = Promise.withResolvers<Clients>();
  const part: Part = {
    name: 'accounts',
    adds: {
      issuer: async () => ({
        async open(...given) {
          const opened = await openAccounts(...given);
          resolve(opened.auth.clients);
          return opened;
        },
      }),
    },
  };
  return { part, clients };
};

const CHOSEN: ReadonlySet<string> = new Set(['NODE_ENV', 'PORT', 'PUBLIC_URL', 'DATA_DIR', 'METRICS_PORT']);

/**
 * A service with an account of its own, as an administrator would register it; it requests its own tokens.
 */
const clientAs = async <D extends Domain>(
  { url, foundation: { domain }, clients }: Started & { readonly clients: Clients },
  role: string,
): Promise<Client<D>> => {
  const roles: readonly string[] = rolesOf(domain);
  if (!roles.includes(role))
    throw new StartRefused(`${domain.name} has no role ${role}: it has ${roles.join(', ')}.`);
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
  const { secret = '' } = await clients.register({ clientId, settings }, by);
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

/** The authorization server follows the log, and may not know the account yet. */
const requestToken = async (
  url: string,
  authorization: string,
): Promise<{ readonly value: string; readonly until: number }> => {
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

/** Resolves once reads show all events, everything that follows from these has happened, and no timer is due. */
const settle = async ({ pool, eventLog, domain }: Started['foundation'], clock: Clock): Promise<void> => {
  const pending = await untilSettled(
    { pool, eventLog, domain, clock },
    { waitMaxMs: WAIT_MAX_MS, followers: [PROJECTOR] },
  );
  if (pending.length > 0)
    throw new Error(`not settled within ${WAIT_MAX_MS / 1_000} seconds: ${pending.join('; ')}`);
};
