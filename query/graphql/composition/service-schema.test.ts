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

test('what a service told last is known at the next start', async () => {
  expect(await openKnownSchemas(folder).find(service)).toBeUndefined();
  await openKnownSchemas(folder).keep(service, 'type Query { a: Int }');
  await openKnownSchemas(folder).keep(service, 'type Query { b: Int }');
  expect(await openKnownSchemas(folder).find(service)).toBe('type Query { b: Int }');
  expect(await openKnownSchemas(folder).find({ ...service, name: 'other' })).toBeUndefined();
});

test('the file of an operator counts instead, and is never written', async () => {
  const schemaFile = join(folder, 'mine.graphql');
  await expect(openKnownSchemas(folder).find({ ...service, schemaFile })).rejects.toThrow(
    /^GRAPHQL_COMPOSE: the types of the service shop cannot be read: ENOENT/,
  );
  writeFileSync(schemaFile, 'type Query { mine: Int }');
  await openKnownSchemas(folder).keep({ ...service, schemaFile }, 'type Query { other: Int }');
  expect(await openKnownSchemas(folder).find({ ...service, schemaFile })).toBe('type Query { mine: Int }');
});
