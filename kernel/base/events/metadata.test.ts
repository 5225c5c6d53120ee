import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { JsonObject } from '../json.ts';
import { type MetadataContext, readMetadata, storeMetadata } from './metadata.ts';

const CONTEXT: MetadataContext = {
  at: '2026-11-01T12:00:00.000Z',
  actor: 'user:7001',
  client: 'cms',
  request: 'request-1',
  correlation: 'request-1',
  causation: null,
};
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the trace of an event', () => {
  test('is stored and read if there is one', () => {
    const stored = storeMetadata(1, { ...CONTEXT, trace: TRACE });
    expect(stored).toMatchObject({ trace: TRACE });
    expect(readMetadata(stored)).toEqual({ version: 1, ...CONTEXT, trace: TRACE });
  });

  test('leaves no mark if there is none', () => {
    const stored = storeMetadata(1, { ...CONTEXT, trace: undefined });
    expect(stored).toStrictEqual(storeMetadata(1, CONTEXT));
    expect(stored).not.toHaveProperty('trace');
    expect(readMetadata(stored)).toStrictEqual({ version: 1, ...CONTEXT });
  });

  test.each([
    '',
    'x',
    null,
    TRACE.toUpperCase(),
    TRACE.replace(/01$/, '00'),
    `${TRACE}-more`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
  ])('is refused as %s', (trace) => {
    expect(() => readMetadata({ ...storeMetadata(1, CONTEXT), trace })).toThrow();
  });
});

describe('the time of an import', () => {
  const IMPORTED = { ...CONTEXT, at: '1999-12-31T12:00:00.000Z', importedAt: '2026-11-01T12:00:00.000Z' };

  test('is stored and read beside the claimed time', () => {
    const stored = storeMetadata(1, IMPORTED);
    expect(stored).toMatchObject({ at: IMPORTED.at, importedAt: IMPORTED.importedAt });
    expect(readMetadata(stored)).toEqual({ version: 1, ...IMPORTED });
  });

  test.each(['', 'x', null, '2026-11-01'])('is refused as %s', (importedAt) => {
    expect(() => readMetadata({ ...storeMetadata(1, CONTEXT), importedAt })).toThrow();
  });
});

const AT = [
  '2026-11-01T12:00:00.000Z',
  '2024-02-29T23:59:59.999Z',
  '2023-02-29T12:00:00.000Z',
  '1999-12-31T12:00:00.000Z',
  '0000-01-01T12:00:00.000Z',
];
const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'cms',
    'user:7001',
    'user:0',
    'system:clock',
    'system:',
    'anonymous',
    'anonymous\n',
    'x'.repeat(201),
    TRACE,
  ),
  fc.constantFrom(
    ...AT,
    '2026-11-31T12:00:00.000Z',
    '2026-13-01T12:00:00.000Z',
    '2026-11-01T24:00:00.000Z',
    '2026-11-01T12:00:00Z',
  ),
  fc.string(),
);
const value = fc.oneof(
  text,
  text,
  fc.constantFrom<JsonObject[string]>(null, 0, 1, -1, 1.5, 2 ** 53, true, [], {}, ['cms']),
);
const damage = fc.dictionary(
  fc.constantFrom(
    'version',
    'at',
    'actor',
    'client',
    'request',
    '$correlationId',
    '$causationId',
    'trace',
    'more',
  ),
  value,
);

test('only metadata that could have been stored is read', () => {
  const isTaken = (work: () => unknown) => {
    try {
      work();
      return true;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(damage, (some) => {
      const { version, at, actor, client, request, $correlationId, $causationId, trace, ...more } = {
        ...storeMetadata(1, CONTEXT),
        ...some,
      };
      const context = {
        at,
        actor,
        client,
        request,
        correlation: $correlationId,
        causation: $causationId,
        trace,
      };
      const isStorable =
        Object.keys(more).length === 0 &&
        isTaken(() => storeMetadata(version as number, context as MetadataContext));
      expect(isTaken(() => readMetadata({ ...storeMetadata(1, CONTEXT), ...some }))).toBe(isStorable);
    }),
    { numRuns: 2_000 },
  );
});

test.each([null, [], 'cms', 1])('metadata that is %j is refused', (metadata) => {
  expect(() => readMetadata(metadata as unknown as JsonObject)).toThrow(z.ZodError);
});
