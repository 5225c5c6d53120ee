// Over 200 lines, because it is one fixture: the senders of a domain, each with its own way to sign.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import { Router } from 'express';
import { Webhook } from 'standardwebhooks';
import { test as base } from 'vitest';
import { createApp } from '#edge/http/app.ts';
import { resourcePaths } from '#edge/rest/resource-paths.ts';
import type { UserId } from '#kernel/base/brands.ts';
import { withParts } from '#kernel/registry/parts.ts';
import { openRateLimits } from '#process/engines/open-rate-limits.ts';
import { loadConfig } from '#process/load-config.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { policyOf } from '#shared/policy.ts';
import { part } from '../../inbox/part.ts';
import { captureLog, serve } from '../serve.ts';
import { payouts } from '../toy/payouts.ts';
import { by, type CommandSide, createCommandDatabase, registerUser } from './command-side.ts';

/** The domain with the inbox, as an installation serves it that opts into it. */
export const PAYOUTS = withParts(payouts, ['webhooks', 'inbox']);
const POLICY = policyOf(PAYOUTS);

const raw = () => randomBytes(24).toString('base64url');
const ledgerKeys = [1, 2].map((n) => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...pair, jwk: { ...pair.publicKey.export({ format: 'jwk' }), alg: 'ES256', kid: `key-${n}` } };
}) as unknown as readonly LedgerKey[];
type LedgerKey = { readonly privateKey: import('node:crypto').KeyObject; readonly jwk: object };

/** Two of each: senders sign with the second. */
export const SECRETS = {
  BANK_WEBHOOK_SECRETS: `whsec_${randomBytes(24).toString('base64')} whsec_${randomBytes(24).toString('base64')}`,
  STRIPE_WEBHOOK_SECRET: `whsec_${raw()}\nwhsec_${raw()}`,
  GITHUB_WEBHOOK_SECRET: `${raw()} ${raw()}`,
  PROBE_SECRETS: `${raw()} ${raw()}`,
  IDENTITY_KEYS: JSON.stringify({ keys: ledgerKeys.map(({ jwk }) => jwk) }),
  LEDGER_KEYS: JSON.stringify({ keys: ledgerKeys.map(({ jwk }) => ({ ...jwk, kid: undefined })) }),
} as const;

const secretOf = (setting: keyof typeof SECRETS, index = 1): string =>
  SECRETS[setting].split(/\s+/)[index] ?? '';

/** By a program that is not ours. */
const hmacOf = (content: string, secret: string, digest = 'sha256'): Buffer =>
  execFileSync(
    'openssl',
    [
      'dgst',
      `-${digest}`,
      '-mac',
      'HMAC',
      '-macopt',
      `hexkey:${Buffer.from(secret).toString('hex')}`,
      '-binary',
    ],
    { input: content },
  );

export type Sent = { readonly headers: Readonly<Record<string, string>>; readonly body: string };
export type Options = {
  readonly id?: string;
  readonly ageS?: number;
  /** Which of the secrets signs. */
  readonly secret?: number;
  readonly algorithm?: string;
};

const timeOf = ({ ageS = 0 }: Options): string => String(Math.round(Date.now() / 1_000) - ageS);

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const jwsOf = (header: object, payload: string | Buffer, key: number): readonly [string, string] => {
  const first = encoded(header);
  const { privateKey } = ledgerKeys[key] as LedgerKey;
  const signature = sign('sha256', Buffer.concat([Buffer.from(`${first}.`), Buffer.from(payload)]), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return [first, signature.toString('base64url')];
};

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A signed message of each sender of the domain. */
export const SIGN = {
  bank(content: object, { id = `msg_${randomUUID()}`, secret = 1, ...more }: Options = {}): Sent {
    const body = JSON.stringify(content);
    const time = timeOf(more);
    const signature = new Webhook(secretOf('BANK_WEBHOOK_SECRETS', secret)).sign(
      id,
      new Date(Number(time) * 1_000),
      body,
    );
    return {
      headers: { ...JSON_TYPE, 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature },
      body,
    };
  },
  stripe(content: object, { id = `evt_${randomUUID()}`, secret = 1, ...more }: Options = {}): Sent {
    const body = JSON.stringify({ id, ...content });
    const time = timeOf(more);
    const signature = hmacOf(`${time}.${body}`, secretOf('STRIPE_WEBHOOK_SECRET', secret)).toString('hex');
    return {
      headers: { ...JSON_TYPE, 'Stripe-Signature': `t=${time},v1=${signature},v0=${'0'.repeat(64)}` },
      body,
    };
  },
  github(content: object, { id = randomUUID(), secret = 1 }: Options = {}): Sent {
    const body = JSON.stringify(content);
    const signature = hmacOf(body, secretOf('GITHUB_WEBHOOK_SECRET', secret)).toString('hex');
    return {
      headers: {
        ...JSON_TYPE,
        'X-Hub-Signature-256': `sha256=${signature}`,
        'X-GitHub-Delivery': id,
        'X-GitHub-Event': 'issues',
      },
      body,
    };
  },
  probe(
    content: { readonly text: string | null },
    { id = randomUUID(), secret = 1, ...more }: Options = {},
  ): Sent {
    const body = JSON.stringify({ alarm: { id, ...content } });
    const time = timeOf(more);
    const signature = hmacOf(`v0:${time}:${body}`, secretOf('PROBE_SECRETS', secret), 'sha512').toString(
      'base64',
    );
    return {
      headers: {
        ...JSON_TYPE,
        'X-Probe-Signature': `v0=${signature}`,
        'X-Probe-Time': time,
        'X-Probe-Event': 'alarm',
      },
      body,
    };
  },
  identity(
    claims: object,
    { id = randomUUID(), secret = 1, ageS = 0, algorithm = 'ES256' }: Options = {},
  ): Sent {
    const payload = encoded({
      ...{ iss: 'https://id.example', aud: 'payouts', jti: id, iat: Math.round(Date.now() / 1_000) - ageS },
      ...claims,
    });
    const [first, signature] = jwsOf({ alg: algorithm, kid: `key-${secret + 1}` }, payload, secret);
    return {
      headers: { 'Content-Type': 'application/secevent+jwt' },
      body: `${first}.${payload}.${algorithm === 'none' ? '' : signature}`,
    };
  },
  ledger(content: object, { id = randomUUID(), secret = 1 }: Options = {}): Sent {
    const body = JSON.stringify({ id, ...content });
    const [first, signature] = jwsOf({ alg: 'ES256', b64: false, crit: ['b64'] }, body, secret);
    return { headers: { ...JSON_TYPE, 'X-JWS-Signature': `${first}..${signature}` }, body };
  },
} as const;

export type Answered = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
};

/** Posts a message to the inbox. */
export const post = async (
  url: string,
  sender: string,
  {
    headers,
    body,
  }: { readonly headers: Readonly<Record<string, string>>; readonly body: string | Uint8Array<ArrayBuffer> },
): Promise<Answered> => {
  const response = await fetch(`${url}/inbox/${sender}`, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
};

const CONFIG = loadConfig({ NODE_ENV: 'test', BODY_BYTES_MAX: '20000', RATE_LIMIT_BURST: '200', ...SECRETS });

/** The inbox of a process. */
export const openInbox = async (side: CommandSide) => {
  await using opening = new AsyncDisposableStack();
  const { log, logged } = captureLog();
  const metrics = createMetrics();
  const rateLimits = opening.use(
    await openRateLimits({ url: 'memory:', installation: 'test', log, clock: side.clock }),
  );
  const routes = await part.routesOf?.({
    ...{ domain: PAYOUTS, gateway: side, rateLimits, metrics, log, pool: side.pool },
    ...{ clock: side.clock, config: CONFIG, resources: opening },
  });
  if (routes === undefined) throw new Error('the inbox has no routes');
  const handler = createApp({ log, metrics, routes: [Router().use(resourcePaths(PAYOUTS), routes)] });
  const { url } = opening.use(await serve(handler));
  const resources = opening.move();
  return {
    url,
    logged,
    metrics,
    post: (sender: string, sent: Parameters<typeof post>[2]) => post(url, sender, sent),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The inbox, and a command side on whose database another process can be opened. */
export const test = base
  .extend(
    'database',
    { scope: 'file' }, // biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern.
    async ({}, { onCleanup }) => {
      const database = await createCommandDatabase();
      onCleanup(() => database[Symbol.asyncDispose]());
      return database;
    },
  )
  .extend('side', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const side = await database.open({ domain: PAYOUTS });
    onCleanup(() => side[Symbol.asyncDispose]());
    return side;
  })
  .extend('inbox', { scope: 'file' }, async ({ side }, { onCleanup }) => {
    const inbox = await openInbox(side);
    onCleanup(() => inbox[Symbol.asyncDispose]());
    return inbox;
  })
  .extend('aClaim', { scope: 'file' }, ({ side }) => async (amount = 500): Promise<number> => {
    const id = await registerUser(side, { role: 'employee' });
    const employee = { kind: 'user', policy: POLICY, userId: id as UserId, role: 'employee' } as const;
    const caller = { ...employee, scopes: new Set(POLICY.scopes), client: null };
    return (await side.send({ type: 'FileClaim', purpose: 'Train', amount }, by(caller))).id;
  });
