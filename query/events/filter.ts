import type { StreamName } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Catalogue } from '#shared/events/catalogue.ts';
import { fitsPattern, typesOf } from '#shared/events/event-patterns.ts';
import { streamName } from '#shared/events/streams.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import type { Topic } from '../changes/topics.ts';

/** Whether a change is among what was asked for. */
export const isAskedFor = (
  { types, actor, subject, article, author, user }: EventFilter,
  { type, origin, stream, data, resource }: Change,
): boolean =>
  (types === undefined || types.some((pattern) => fitsPattern(pattern, type))) &&
  (actor === undefined || origin?.actor === actor) &&
  (subject === undefined || stream === subject) &&
  (article === undefined || stream === `article-${article}` || (stream.startsWith('comment-') && data.articleId === article)) &&
  (author === undefined || (/^(?:article|comment)-/.test(stream) && resource.ownerId === author)) &&
  (user === undefined || stream === `user-${user}`);

/** The one stream that has all of it, where there is one. */
export const streamFor = ({ subject, user }: EventFilter): StreamName | undefined =>
  (subject as StreamName | undefined) ?? (user === undefined ? undefined : streamName('user', user));

/** The topics that have all of it, and as little beside it as an index can tell. */
export const topicsFor = (catalogue: Catalogue, { types, subject, article, user }: EventFilter): readonly Topic[] => {
  if (subject !== undefined) return topicsOfSubject(subject) ?? ['all'];
  if (article !== undefined) return [`article:${article}`, `comments:${article}`];
  if (user !== undefined) return [`user:${user}`];
  return types === undefined ? ['all'] : topicsOfTypes(catalogue, types);
};

/** Patterns, as `article.*`, stand for the types that they fit. */
export const topicsOfTypes = (catalogue: Catalogue, patterns: readonly string[]): readonly Topic[] =>
  patterns.includes('*')
    ? ['all']
    : [...new Set(patterns.flatMap((pattern) => typesOf(catalogue, pattern)))].map((type): Topic => `type:${type}`);

const topicsOfSubject = (subject: string): readonly Topic[] | undefined => {
  const [, kind, id] = /^(article|comment|user)-(\d+)$/.exec(subject) ?? [];
  return kind === undefined ? undefined : [`${kind}:${id}` as Topic];
};
