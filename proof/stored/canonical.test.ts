import canonicalize from 'canonicalize';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EventId, Position, StreamName, Version } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { canonicalForm, hashOf } from './canonical.ts';

const event: RecordedEvent = {
  stream: 'user-1' as StreamName,
  version: 1 as Version,
  position: 5 as Position,
  id: '00000000-0000-4000-8000-000000000000' as EventId,
  type: 'user.deleted',
  data: { userId: 1, b: ['é', 1e21], a: undefined },
  metadata: { z: 1, a: null },
  recordedAt: new Date(0),
};

test('is RFC 8785: sorted names, no white space, numbers as ECMAScript prints them', () => {
  expect(canonicalForm(event)).toBe(
    '{"data":{"b":["é",1e+21],"userId":1},"id":"00000000-0000-4000-8000-000000000000","metadata":{"a":null,"z":1},' +
      '"stream":"user-1","type":"user.deleted","version":1}',
  );
});

test('does not depend on the engine: neither position, nor time, nor the order of names', () => {
  const copied = {
    ...event,
    position: 8 as Position,
    recordedAt: new Date(),
    data: { b: ['é', 1e21], userId: 1 },
  };
  expect(hashOf(copied)).toEqual(hashOf(event));
});

test.each<Partial<RecordedEvent>>([
  { stream: 'user-2' as StreamName },
  { version: 2 as Version },
  { id: '00000000-0000-4000-8000-000000000001' as EventId },
  { type: 'user.updated' },
  { data: {} },
  { metadata: {} },
])('changes with %j', (change) => {
  expect(hashOf({ ...event, ...change })).not.toEqual(hashOf(event));
});

test('values that RFC 8785 refuses have a form as well, with the same order of names', () => {
  const damaged = { b: '\ud800', a: [Number.POSITIVE_INFINITY, { d: 1, c: 2 }] };
  expect(canonicalForm({ ...event, data: damaged })).toBe(
    '{"data":{"a":[null,{"c":2,"d":1}],"b":"\\ud800"},"id":"00000000-0000-4000-8000-000000000000","metadata":{"a":null,"z":1},' +
      '"stream":"user-1","type":"user.deleted","version":1}',
  );
});

test('is the text of the library for any JSON, whatever its depth, characters and names', () => {
  const content = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue({ stringUnit: 'binary' }),
    fc.dictionary(fc.oneof(fc.string(), fc.nat().map(String)), fc.jsonValue({ maxDepth: 8 })),
  );
  void fc.assert(
    fc.property(content, content, (one, other) => {
      const { position: _position, recordedAt: _at, ...own } = { ...event, data: { one, other } };
      expect(canonicalForm({ ...event, data: { one, other } })).toBe(canonicalize(own));
    }),
    { numRuns: 300 },
  );
  const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`);
  const { position: _position, recordedAt: _at, ...own } = { ...event, data: { deep } };
  expect(canonicalForm({ ...event, data: { deep } })).toBe(canonicalize(own));
});
