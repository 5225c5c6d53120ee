import { describe, expect, test } from 'vitest';
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
  test('is stored and read where there is one', () => {
    const stored = storeMetadata(1, { ...CONTEXT, trace: TRACE });
    expect(stored).toMatchObject({ trace: TRACE });
    expect(readMetadata(stored)).toEqual({ version: 1, ...CONTEXT, trace: TRACE });
  });

  test('leaves no mark where there is none', () => {
    const stored = storeMetadata(1, { ...CONTEXT, trace: undefined });
    expect(stored).toStrictEqual(storeMetadata(1, CONTEXT));
    expect(stored).not.toHaveProperty('trace');
    expect(readMetadata(stored)).toStrictEqual({ version: 1, ...CONTEXT });
  });

  test.each(['', 'x', null, TRACE.toUpperCase(), TRACE.replace(/01$/, '00'), `${TRACE}-more`, `00-${'0'.repeat(32)}-b7ad6b7169203331-01`])(
    'is refused as %s',
    (trace) => {
      expect(() => readMetadata({ ...storeMetadata(1, CONTEXT), trace })).toThrow();
    },
  );
});
