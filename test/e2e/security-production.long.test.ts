// Over 200 lines, because every case uses the one installation that is set up here.
import { describe, expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { openPeople } from '../../testing/http/people.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { sendRaw } from '../engines/raw-request.ts';
import { linkIn, startSmtpReceiver } from '../engines/smtp-receiver.ts';
import { spendEventfulDay, UNSPEAKABLE } from '../security/eventful-day.ts';
import { HOSTILE, SMUGGLED, SPLITTING } from '../security/hostile-requests.ts';
import { PAGES, PERSONAL, READ_BY_PAGES, SCHEMA_QUESTIONS } from '../security/questions.ts';
import { recordExchanges } from '../security/recorder.ts';

/**
 * An installation as in production, behind a proxy that ends TLS: what it shows, what it hides, and what it
 * logs.
 */
const PRODUCTION = {
  ...{
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://annals.example',
    SIGNUP: 'author',
    REGISTRATION: 'on',
  },
  ...{
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_PORTS: 'any',
    WEBHOOK_RETRY_SCHEDULE: '0.1',
    LOG_LEVEL: 'trace',
    DRAIN_NOTICE_MS: '0',
  },
};

const test = base
  .extend('openSmtp', { scope: 'file' }, () => startSmtpReceiver)
  .extend('smtp', { scope: 'file' }, async ({ openSmtp }, { onCleanup }) => {
    const smtp = await openSmtp();
    onCleanup(() => smtp[Symbol.asyncDispose]());
    return smtp;
  })
  .extend('installationOptions', { scope: 'file' }, ({ smtp }) => ({
    settings: { ...PRODUCTION, MAIL_URL: smtp.url, MAIL_FROM: 'annals@example.com' },
  }))
  .extend('recorder', { scope: 'file' }, ({ installation }) => recordExchanges(installation.fetch))
  .extend('ask', { scope: 'file' }, ({ installation: { url }, recorder: { fetch } }) =>
    restClientOf({ url, fetch }),
  )
  .extend('people', { scope: 'file' }, ({ installation, recorder: { fetch }, smtp }) =>
    openPeople({ ...installation, fetch }, async (email) => linkIn(await smtp.mailTo(email))),
  )
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp('Zephyrine Canary'))
  .extend('admin', { scope: 'file' }, ({ people }) => people.administrator.token);

describe('a page', () => {
  test.for(PAGES)('%s allows no foreign script and no framing', async (path, { ask }) => {
    const { headers, body } = await ask('GET', path, { headers: { accept: 'text/html' } });
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = Object.fromEntries(
      (headers.get('content-security-policy') ?? '').split('; ').map((each) => each.split(/ (.*)/, 2)),
    );
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(policy['form-action']).toMatch(/^'(none|self)'/);
    expect(JSON.stringify(policy)).not.toMatch(/unsafe|\*/);
    expect(headers.get('cache-control')).toMatch(path === '/' || path === '/docs' ? /^public/ : /no-store/);
    expect(headers.get('referrer-policy')).toMatch(/^(no-referrer|same-origin)$/);
    expect(String(body)).not.toMatch(/<script(?![^>]* src=)|\son[a-z]+=|style="/i);
  });
});

test('every cookie is only for this host, only by https, and hidden from scripts', ({
  ada: _signedUp,
  recorder,
}) => {
  const cookies = recorder.exchanges.flatMap(({ headers }) => headers.getSetCookie());
  expect(new Set(cookies.map((cookie) => cookie.split(/[=.]/)[0])).size).toBeGreaterThan(2);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/^__(Host|Secure)-annals_/);
    for (const flag of [/; secure(;|$)/i, /; httponly(;|$)/i, /; samesite=(lax|strict)(;|$)/i])
      expect(cookie).toMatch(flag);
    expect(cookie).not.toMatch(/; domain=/i);
  }
});

test('the address of a sign-in, or even its id, gives no access to it', async ({ ask }) => {
  const query = {
    client_id: 'journal-app',
    redirect_uri: 'https://app.example/callback',
    code_challenge: 'A'.repeat(43),
  };
  const begun = await ask('GET', `/authorize?${new URLSearchParams(query)}`);
  const path = begun.headers.get('location') ?? '';
  const pairs = begun.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '');
  const shown = async (cookie: string) => (await ask('GET', path, { headers: { cookie } })).status;
  expect(await shown(pairs.join('; '))).toBe(200);
  expect(await shown('')).toBe(400);
  expect(await shown(pairs.filter((pair) => !pair.includes('.sig=')).join('; '))).toBe(400);
  expect(await shown(pairs.map((pair) => pair.replace(/(\.sig=).*/, `$1${'A'.repeat(27)}`)).join('; '))).toBe(
    400,
  );
});

describe('private data', () => {
  test.for(PERSONAL)('%s %s is stored by no shared cache', async ([method, path, body], { admin, ask }) => {
    const { status, headers } = await ask(method, path, { token: admin, ...(body && { body }) });
    expect(status).toBeLessThan(300);
    expect(headers.get('cache-control')).toMatch(/^(private|no-store)/);
    if (method === 'GET') expect(headers.get('vary')).toMatch(/Authorization/);
  });
});

describe('a page of another origin', () => {
  test.for(READ_BY_PAGES)('cannot %s %s', async ([method, path], { admin, ask }) => {
    const asked = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const { headers } = await ask(method, path, {
      token: admin,
      headers: asked,
      ...(method === 'POST' && { body: {} }),
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });
});

describe('the schema is hidden from callers without the right', () => {
  test.for(SCHEMA_QUESTIONS)('%s', async ([query, code], { ask }) => {
    for (const [method, path, body] of [
      ['POST', '/graphql', { query }],
      ['GET', `/graphql?query=${encodeURIComponent(query)}`, undefined],
    ] as const) {
      const reply = await ask(method, path, { ...(body && { body }) });
      expect(JSON.stringify(reply.body)).toContain(`"code":"${code}"`);
      expect(JSON.stringify(reply.body)).not.toMatch(/did you mean/i);
    }
  });

  test('and there is no page to query it with', async ({ ask }) => {
    const { status, body } = await ask('GET', '/graphql', { headers: { accept: 'text/html' } });
    expect([status, String(body)]).toEqual([406, expect.not.stringContaining('<html')]);
  });
});

test.for([
  '/metrics',
  '/commands',
  '/internal',
  '/debug/pprof',
  '/.env',
  '/.git/config',
  '/package.json',
  '/main.ts',
  '/server-status',
])('%s is hidden from clients', async (path, { admin, ask }) => {
  for (const method of ['GET', 'POST'])
    expect([404, 405]).toContain((await ask(method, path, { token: admin })).status);
});

describe('an attack', () => {
  test.for(HOSTILE)('%s: %s %s', async ([, method, path, sent, refusal], { admin, ask }) => {
    const authorized = path === '/token' || path.startsWith('/sign') ? {} : { token: admin };
    const { status } = await ask(method, path, { ...authorized, ...sent });
    expect(status).toBe(refusal);
  });

  test.for(SPLITTING)(
    'no header line of an answer begins with the content of %s',
    async (path, { admin, installation }) => {
      const lines = [
        `GET ${path} HTTP/1.1`,
        'Host: x',
        `Authorization: Bearer ${admin}`,
        'Connection: close',
      ];
      const [head = ''] = (await sendRaw(installation.origin, lines)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 [234]/);
      expect(head).not.toMatch(/^x-evil/im);
    },
  );

  test.for(SMUGGLED)('%s is refused', async ([_name, lines, body], { admin, installation }) => {
    const head = [
      'POST /articles HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${admin}`,
      'Connection: close',
      ...lines,
    ];
    const answer = await sendRaw(installation.origin, head, body);
    expect(answer).toMatch(/^HTTP\/1\.1 (400|501)/);
    expect(answer.match(/^HTTP\/1\.1/gm)).toHaveLength(1);
  });

  test.for([
    '/articles',
    '/me',
    '/nowhere',
    '/.well-known/openid-configuration',
    '/sign-up',
    '/authorize?client_id=nobody',
    '/docs',
  ])('%s has the address of the settings, whatever the request says', async (path, { installation }) => {
    const forged = [
      'Host: evil.example',
      'X-Forwarded-Host: evil.example',
      'Forwarded: host=evil.example;proto=http',
      'X-Original-URL: /evil',
    ];
    const answer = await sendRaw(installation.origin, [
      `GET ${path} HTTP/1.1`,
      ...forged,
      'X-Forwarded-Prefix: /evil',
      'Connection: close',
    ]);
    expect(answer).not.toContain('evil');
  });
});

describe('at the end', () => {
  test.beforeAll(async ({ ada, admin, ask, installation, sink }) => {
    await using pool = openPool({
      url: installation.settings.DATABASE_URL ?? '',
      applicationName: 'test',
      connectionsMax: 1,
    });
    await spendEventfulDay({ ask, token: ada.token, admin, sink, pool });
  });

  test('internal errors were reported only in the log', ({ installation, recorder }) => {
    const failures = recorder.exchanges.filter(({ status }) => status >= 500);
    expect(failures.length).toBeGreaterThan(1);
    for (const { body, headers } of failures)
      expect(body + JSON.stringify([...headers])).not.toMatch(/client_away|relation|select |42P01/i);
    expect(installation.printed()).toMatch(/relation .*auth\.client.* does not exist/);
  });

  test('no answer named its software, and each had the security headers', ({ recorder }) => {
    expect(recorder.exchanges.length).toBeGreaterThan(200);
    for (const { path, status, headers, body, hasToken } of recorder.exchanges) {
      const said = `${path} ${status} ${JSON.stringify([...headers])}`;
      expect(said).not.toMatch(/x-powered-by|"server","(?!nginx")|"via"/);
      expect(headers.get('x-content-type-options'), said).toBe('nosniff');
      expect(headers.get('strict-transport-security'), said).toBe('max-age=31536000');
      expect(body).not.toMatch(/node_modules|\.ts:\d+|\bat (async )?\w+ \(|node:internal/);
      if (/"(access_token|secret)":"/.test(body))
        expect(headers.get('cache-control'), said).toContain('no-store');
      if (hasToken && status < 400)
        expect(headers.get('cache-control') ?? '', said).not.toMatch(/public(?!, no-cache)/);
    }
  });

  test('the log contains no secrets and no personal data', ({ ada, installation, recorder }) => {
    const log = installation.printed();
    const { MASTER_KEY = '', CLIENT_CERT_SECRET = '', DATABASE_URL = '' } = installation.settings;
    const settings = [MASTER_KEY, CLIENT_CERT_SECRET, new URL(DATABASE_URL).password].filter(Boolean);
    const known = [
      ...settings,
      installation.admin.secret,
      ada.email,
      ada.name,
      ada.token,
      ada.refreshToken,
      ...Object.values(UNSPEAKABLE),
    ];
    const secrets = [...known, ...recorder.secrets()];
    expect(secrets.length).toBeGreaterThan(50);
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
    // The log is complete.
    for (const said of ['"path":"/token"', '"path":"/sign-up"', '"path":"/webhooks"', 'Annals is ready.'])
      expect(log).toContain(said);
  });
});
