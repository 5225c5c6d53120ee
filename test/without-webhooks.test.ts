import { printSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { serves, withParts } from '#kernel/registry/parts.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { policyOf } from '#shared/policy.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { domainFacts } from '../console/derive-facts.ts';
import { ALL_PARTS } from '../parts.ts';
import { schemaOf } from '../query/graphql/schema/schema.ts';
import { openApiDocument } from '../query/openapi/document.ts';

const NAMES = ALL_PARTS.map(({ name }) => name);
const without = withParts(
  publishing,
  NAMES.filter((name) => name !== 'webhooks'),
);
const OPTIONS = { publicUrl: 'https://annals.example', issuerUrl: 'https://annals.example' };
const ABOUT = /webhook|deliver/i;

describe('an installation without webhooks', () => {
  test('has all parts but these', () => {
    expect(NAMES.filter((name) => !serves(without, name))).toEqual(['webhooks']);
    expect(withParts(publishing, NAMES)).toBe(publishing);
  });

  test('has no right, scope, table or operation of them', () => {
    const { rights, scopes } = policyOf(without);
    const names = [
      ...rights.keys(),
      ...scopes,
      ...tablesOf(without).all.map(({ name }) => name),
      ...Object.entries(operationsOf(without)).flatMap(([id, { path }]) => [id, path]),
    ];
    expect(names.filter((name) => ABOUT.test(name))).toEqual([]);
    expect(Object.keys(operationsOf(publishing)).length).toBeGreaterThan(
      Object.keys(operationsOf(without)).length,
    );
  });

  test('has neither types nor fields of them in GraphQL', () => {
    const defined = printSchema(schemaOf(without)).replaceAll(/"[^"]*"/g, '');
    expect(defined.split('\n').filter((line) => ABOUT.test(line))).toEqual([]);
  });

  test('describes neither paths nor schemas of them in OpenAPI', () => {
    const { paths, components, tags } = openApiDocument({ ...OPTIONS, domain: without } as never) as Readonly<
      Record<string, Readonly<Record<string, object>>>
    >;
    const names = [...Object.keys(paths ?? {}), ...Object.keys(components?.schemas ?? {})];
    expect(names.filter((name) => ABOUT.test(name))).toEqual([]);
    expect(JSON.stringify(tags)).not.toMatch(ABOUT);
    const text = JSON.stringify(components);
    expect(
      /"\/webhooks|manage:webhooks|webhook_|delivery_not|maximum number of webhooks|and webhooks/.exec(text),
    ).toBe(null);
  });

  test('shows them neither among event types nor in the console', () => {
    const { publicTypes, publicKinds } = catalogueOf(without);
    expect([...publicTypes, ...publicKinds].filter((name) => ABOUT.test(name))).toEqual([]);
    expect(domainFacts(without).hasWebhooks).toBe(false);
  });

  test('still reads events of webhooks in its log', () => {
    const [now, before] = [catalogueOf(without), catalogueOf(publishing)];
    const types = before.publicTypes.filter((type) => type.startsWith('webhook.'));
    expect(types.length).toBeGreaterThan(5);
    for (const type of types) {
      const definition = now.find(type);
      expect([type, definition?.visibility]).toEqual([type, 'internal']);
      expect(definition?.version).toBe(before.find(type)?.version);
      expect(definition?.personal).toEqual(before.find(type)?.personal);
    }
  });
});
