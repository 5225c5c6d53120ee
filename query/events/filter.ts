import type { Change } from '#shared/change-stream/change-stream.ts';
import type { EventFilter } from '#shared/rest/events.ts';
import type { Topic } from '../changes/topics.ts';

/** Whether a change is among what was asked for. */
export const isAskedFor = ({ types, article, author, user }: EventFilter, { type, stream, data, resource }: Change): boolean =>
  (types === undefined || types.includes(type)) &&
  (article === undefined || stream === `article-${article}` || (stream.startsWith('comment-') && data.articleId === article)) &&
  (author === undefined || (/^(?:article|comment)-/.test(stream) && resource.ownerId === author)) &&
  (user === undefined || stream === `user-${user}`);

/** The topics that have all of it, and as little beside it as an index can tell. */
export const topicsFor = ({ types, article, user }: EventFilter): readonly Topic[] => {
  if (article !== undefined) return [`article:${article}`, `comments:${article}`];
  if (user !== undefined) return [`user:${user}`];
  return types?.map((type): Topic => `type:${type}`) ?? ['all'];
};
