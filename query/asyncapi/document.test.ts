import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { withParts } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { cloudEventOf } from '#shared/rest/cloud-events.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { serveRoutes } from '../../test/serve.ts';
import { EXAMPLE_LOG, eventTypesOf } from '../event-types/event-types.ts';
import { asyncApiDocument } from './document.ts';
import { asyncApiRoutes } from './routes.ts';

const OPTIONS = { publicUrl: 'https://annals.example/base/', issuerUrl: 'https://issuer.example' };

type Channel = { readonly address: string | null; readonly messages: Readonly<Record<string, unknown>> };
type Document = {
  readonly servers: Readonly<Record<string, object>>;
  readonly channels: Readonly<Record<string, Channel>>;
  readonly operations: Readonly<Record<string, { readonly action: string; readonly security?: unknown }>>;
  readonly components: {
    readonly messages: Readonly<Record<string, { readonly payload: object }>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
};
const documentOf = (domain: Domain) => asyncApiDocument({ ...OPTIONS, domain }) as unknown as Document;

describe('the channels', () => {
  test('are those of the served parts', () => {
    const { servers, channels } = documentOf(publishing);
    expect(servers.annals).toEqual({ host: 'annals.example', protocol: 'https', pathname: '/base' });
    const addresses = Object.entries(channels).map(([name, { address }]) => [name, address]);
    expect(addresses).toEqual([
      ['listEvents', '/events'],
      ['webhooks', null],
      ['subscriptions', '/graphql'],
    ]);
    expect(documentOf(withParts(publishing, [])).channels).toEqual({});
    expect(Object.keys(documentOf(withParts(publishing, ['webhooks'])).channels)).toEqual(['webhooks']);
  });

  test('are also the streams of views, with the rows of each', () => {
    const { channels, components } = documentOf(expenses);
    expect(channels.listSpending?.address).toBe('/spending');
    expect(Object.keys(channels.listSpending?.messages ?? {})).toEqual([
      'listSpending.reset',
      'listSpending.changed',
      'listSpending.removed',
    ]);
    expect(components.schemas).toHaveProperty('Spending');
  });

  test('each sends, and demands a scope unless anybody may follow', () => {
    const { operations } = documentOf(publishing);
    expect(new Set(Object.values(operations).map(({ action }) => action))).toEqual(new Set(['send']));
    expect(operations.listEvents?.security).toEqual([
      { $ref: '#/components/securitySchemes/oauth', scopes: ['read:events'] },
    ]);
  });
});

test.each([publishing, expenses].map((domain) => [domain.name, domain] as const))(
  'the messages of %s accept an event of each type, and no other type',
  (_name, domain) => {
    const { components } = documentOf(domain);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'https://annals.example/asyncapi.json', components });
    for (const { type, version, example } of eventTypesOf(domain)) {
      const validate = ajv.compile({
        $ref: `https://annals.example/asyncapi.json#/components/messages/${type}/payload`,
      });
      const event = {
        id: '0198c0de-0000-7000-8000-000000000000',
        at: '2026-11-21T15:04:05.678Z',
        cursor: '6f9619ff-1z4',
        subject: 'user-7001',
        actor: 'user:7001',
        ...{ type, version, data: example },
      };
      expect([type, validate(event), validate.errors]).toEqual([type, true, null]);
      expect(validate({ ...event, type: 'user.else' })).toBe(false);
      const validateCloudEvent = ajv.compile({
        $ref: 'https://annals.example/asyncapi.json#/components/messages/cloudevent/payload',
      });
      const cloudEvent = cloudEventOf(event, OPTIONS.publicUrl);
      expect([type, validateCloudEvent(cloudEvent), validateCloudEvent.errors]).toEqual([type, true, null]);
      expect(validateCloudEvent(event)).toBe(false);
    }
  },
);

test('it is served in JSON and in YAML, and revalidated with 304', async () => {
  await using server = await serveRoutes(
    asyncApiRoutes({ ...OPTIONS, domain: publishing }, { identity: EXAMPLE_LOG }),
  );
  const json = await fetch(`${server.url}/api/asyncapi.json`);
  expect([json.status, json.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(await json.json()).toMatchObject({ asyncapi: '3.0.0' });
  const etag = json.headers.get('etag') ?? '';
  const again = await fetch(`${server.url}/asyncapi.json`, { headers: { 'If-None-Match': etag } });
  expect(again.status).toBe(304);
  const yaml = await (await fetch(`${server.url}/asyncapi.yaml`)).text();
  expect(
    yaml.startsWith('asyncapi: "3.0.0"') ||
      yaml.startsWith("asyncapi: '3.0.0'") ||
      yaml.startsWith('asyncapi: 3.0.0'),
  ).toBe(true);
});
