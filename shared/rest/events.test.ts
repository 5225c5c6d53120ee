import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { followedEvents } from './event-operations.ts';

const FollowedEvents = followedEvents(catalogueOf(publishing));

test('every reference that a public event carries is a filter, and nothing else is', () => {
  const accepts = (subject: string) => FollowedEvents.safeParse({ subject }).success;
  for (const { type, visibility, stream, example } of catalogueOf(publishing).definitions) {
    const key = stream.key === null ? 'Vu4mHs9_-.x' : String(example[stream.key]);
    expect([type, accepts(streamName(stream.kind, key))]).toEqual([
      type,
      visibility === 'public' || stream.kind === 'user',
    ]);
  }
  for (const subject of ['gadget-1', 'article', 'article-', 'articles-1', 'article-1 ', 'article-ä'])
    expect(accepts(subject)).toBe(false);
});

test('types can be patterns, like those of webhooks', () => {
  expect(FollowedEvents.parse({ types: 'comment.added,article.*,comment.added' })).toEqual({
    types: ['article.*', 'comment.added'],
  });
  expect(FollowedEvents.parse({ types: '*' })).toEqual({ types: ['*'] });
  for (const types of ['email.*', 'art*', 'article.', '.*', '', 'article.edited,', '*.*'])
    expect([types, FollowedEvents.safeParse({ types }).success]).toEqual([types, false]);
});
