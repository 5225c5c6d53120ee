import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { ReplayWebhook, webhookFormsOf } from './webhook.ts';

const { RegisterWebhook, EditWebhook } = webhookFormsOf(publishing);

const register = (more: object) =>
  RegisterWebhook.safeParse({
    type: 'RegisterWebhook',
    url: 'https://a.example/',
    eventTypes: ['*'],
    ...more,
  });
const edit = (more: object) => EditWebhook.safeParse({ type: 'EditWebhook', webhookId: 1, ...more });
const replay = (more: object) => ReplayWebhook.safeParse({ type: 'ReplayWebhook', webhookId: 1, ...more });

test('the settings of a webhook have useful defaults', () => {
  expect(register({}).data).toEqual({
    ...{
      type: 'RegisterWebhook',
      url: 'https://a.example/',
      eventTypes: ['*'],
      description: null,
      filter: {},
      payload: 'thin',
    },
    ...{ ordered: false, enabled: true, limits: { ratePerSecond: 50, concurrency: 10 }, headers: {} },
  });
  expect(register({ limits: { concurrency: 1 } }).data?.limits).toEqual({
    ratePerSecond: 50,
    concurrency: 1,
  });
});

describe('an address', () => {
  test.each(['https://a.example/hooks?x=1', 'http://a.example:8080', 'http://[2001:4860::1]/'])(
    '%s is accepted',
    (url) => {
      expect(register({ url }).success).toBe(true);
    },
  );
  test.each([
    ...[
      '',
      'a.example',
      '//a.example',
      'ftp://a.example',
      'javascript:alert(1)',
      'HTTPS://a.example',
      'https://',
      'https://a.example/ x',
    ],
    ...[
      'https://user@a.example',
      'https://user:pass@a.example',
      'https://ä.example',
      'https://a.example/\n',
      'https://a.example:99999',
    ],
    ...['https://a.example:0', 'https://a.example:00/hook', 'https://a.example/#part', 'https://a.example/#'],
    `https://a.example/${'x'.repeat(2_048)}`,
  ])('%j is refused', (url) => {
    expect(register({ url }).success).toBe(false);
    expect(edit({ url }).success).toBe(false);
  });
});

describe('types of events', () => {
  test.each([[['article.published', 'comment.*']], [['*']], [['webhook.disabled']]])(
    '%j are accepted',
    (eventTypes) => {
      expect(register({ eventTypes }).success).toBe(true);
    },
  );
  test.each([[[]], [['article']], [['*', '*']], [['**']]])('%j are refused', (eventTypes) => {
    expect(register({ eventTypes }).success).toBe(false);
  });
});

describe('headers', () => {
  test.each([[{ Authorization: 'Bearer a.b' }], [{ 'X-Team': 'blue and green' }], [{ constructor: 'x' }]])(
    '%j are accepted',
    (headers) => {
      expect(register({ headers }).data?.headers).toEqual(headers);
      expect(edit({ headers }).success).toBe(true);
    },
  );
  const ours = [
    'Host',
    'content-length',
    'Content-Type',
    'Connection',
    'Keep-Alive',
    'transfer-encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
  ];
  const ofProxies = [
    'Proxy-Authorization',
    'X-Forwarded-For',
    'Forwarded',
    'Via',
    'Cookie',
    'User-Agent',
    'Date',
    'Sec-Fetch-Site',
  ];
  test.each([...ours, ...ofProxies, 'webhook-id', 'Webhook-Signature', 'a b', 'x:', ':path', '', 'X_Y', 'é'])(
    '%j is no name',
    (name) => {
      const headers = JSON.parse(`{${JSON.stringify(name)}:"x"}`);
      expect(register({ headers }).success).toBe(false);
      expect(edit({ headers }).success).toBe(false);
    },
  );
  test.each(['', ' x', 'x ', 'a\r\nHost: b', 'a\nb', 'é', '\u0000', 'x'.repeat(1_001)])(
    '%j is no value',
    (value) => {
      expect(register({ headers: { 'X-Team': value } }).success).toBe(false);
    },
  );
  test('are at most ten, with unique names regardless of case', () => {
    const some = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'x']));
    expect(register({ headers: some(10) }).success).toBe(true);
    expect(register({ headers: some(11) }).success).toBe(false);
    expect(register({ headers: { 'X-Team': 'a', 'x-team': 'b' } }).success).toBe(false);
  });
});

test('an edit removes optional fields by null, and nothing else', () => {
  expect(edit({ description: null, filter: { articleId: null }, headers: { 'X-Team': null } }).success).toBe(
    true,
  );
  for (const more of [
    { url: null },
    { eventTypes: null },
    { limits: null },
    { limits: { concurrency: null } },
    { payload: null },
  ]) {
    expect(edit(more).success).toBe(false);
  }
});

test.each([
  { limits: { concurrency: 0 } },
  { limits: { concurrency: 51 } },
  { limits: { ratePerSecond: 1_001 } },
  { description: 'x'.repeat(501) },
])('beyond its bounds is %j', (more) => {
  expect(register(more).success).toBe(false);
  expect(edit(more).success).toBe(false);
});

describe('a replay', () => {
  test.each([
    {},
    { from: '0a1b2c3d-1z' },
    { from: '2026-01-02T03:04:05Z' },
    { from: '2026-01-02T03:04:05.5+02:00', to: '0a1b2c3d-1z' },
  ])('%j is taken', (span) => {
    expect(replay(span).success).toBe(true);
  });
  test.each([
    { from: 'yesterday' },
    { from: '2026-01-02' },
    { from: '2026-13-02T03:04:05Z' },
    { to: '2026-01-02T03:04:05Z' },
    { from: 5 },
  ])('%j is refused', (span) => {
    expect(replay(span).success).toBe(false);
  });
});
