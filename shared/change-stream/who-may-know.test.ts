import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { StreamName } from '#shared/brands.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { STREAM_KINDS, streamName } from '#shared/events/streams.ts';
import { isPublic } from './who-may-know.ts';

const DEFINITIONS = catalogueOf(publishing).definitions;

test('what the catalogue calls public is told, and nothing else', () => {
  const told = DEFINITIONS.filter(({ type, stream }) => isPublic({ type, stream: streamName(stream.kind, 1) }));
  expect(told).toEqual(DEFINITIONS.filter(({ visibility }) => visibility === 'public'));
});

test('no type is told in a stream of an unknown kind, or of another kind than its own', () => {
  for (const { type, stream: own } of DEFINITIONS) {
    const others = STREAM_KINDS.filter((kind) => kind !== own.kind).map((kind) => streamName(kind, 1));
    for (const stream of [...others, 'gadget-1', 'articles-1', 'article', '', 'constructor-1'] as StreamName[])
      expect([stream, isPublic({ type, stream })]).toEqual([stream, false]);
  }
});

test('of an unknown type only that it is in an aggregate of the read model is told', () => {
  const told = STREAM_KINDS.filter((kind) => isPublic({ type: 'article.vanished', stream: streamName(kind, 1) }));
  expect(told).toEqual(['user', 'article', 'comment', 'webhook']);
});
