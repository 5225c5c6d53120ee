import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { isPublic } from './may-see.ts';

const { definitions: DEFINITIONS, kinds: KINDS } = catalogueOf(publishing);

test('only types that the catalogue calls public are visible', () => {
  const told = DEFINITIONS.filter(({ type, stream }) =>
    isPublic(publishing, { type, stream: streamName(stream.kind, 1) }),
  );
  expect(told).toEqual(DEFINITIONS.filter(({ visibility }) => visibility === 'public'));
});

test('no type is visible in a stream of an unknown kind, or of another kind than its own', () => {
  for (const { type, stream: own } of DEFINITIONS) {
    const others = KINDS.filter((kind) => kind !== own.kind).map((kind) => streamName(kind, 1));
    for (const stream of [
      ...others,
      'gadget-1',
      'articles-1',
      'article',
      '',
      'constructor-1',
    ] as StreamName[])
      expect([stream, isPublic(publishing, { type, stream })]).toEqual([stream, false]);
  }
});

test('of an unknown type only the aggregate in the read model is visible', () => {
  const told = KINDS.filter((kind) =>
    isPublic(publishing, { type: 'article.vanished', stream: streamName(kind, 1) }),
  );
  expect(told).toEqual(['user', 'article', 'comment', 'webhook']);
});
