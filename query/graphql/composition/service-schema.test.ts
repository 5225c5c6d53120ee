import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openKnownSchemas } from './service-schema.ts';
import type { Service } from './services.ts';

const folder = mkdtempSync(join(tmpdir(), 'annals-known-'));
afterAll(() => rmSync(folder, { recursive: true }));

const service: Service = {
  ...{ name: 'shop', url: 'http://a/', timeoutMs: 1, headers: {}, forwardHeaders: [], prefix: '' },
  schemaFile: undefined,
};

test('the last schema of a service is available at the next start', async () => {
  expect(await openKnownSchemas(folder).find(service)).toBeUndefined();
  await openKnownSchemas(folder).keep(service, 'type Query { a: Int }');
  await openKnownSchemas(folder).keep(service, 'type Query { b: Int }');
  expect(await openKnownSchemas(folder).find(service)).toBe('type Query { b: Int }');
  expect(await openKnownSchemas(folder).find({ ...service, name: 'other' })).toBeUndefined();
});

test('a schema file of the operator takes precedence, and is never written', async () => {
  const schemaFile = join(folder, 'mine.graphql');
  await expect(openKnownSchemas(folder).find({ ...service, schemaFile })).rejects.toThrow(
    /^GRAPHQL_COMPOSE: the types of the service shop cannot be read: ENOENT/,
  );
  writeFileSync(schemaFile, 'type Query { mine: Int }');
  await openKnownSchemas(folder).keep({ ...service, schemaFile }, 'type Query { other: Int }');
  expect(await openKnownSchemas(folder).find({ ...service, schemaFile })).toBe('type Query { mine: Int }');
});
