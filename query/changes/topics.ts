import type { Change } from '#shared/change-stream/change-stream.ts';

/**
 * What a change is about, as something to index by: everything, its type, the thing itself (`article:5`, `comment:6`, `user:7`,
 * any kind of stream), and for comments the article under which they stand.
 */
export type Topic = 'all' | `type:${string}` | `${'article' | 'comment' | 'user'}:${number}` | `comments:${number}`;

export const topicsOf = ({ type, stream, data }: Pick<Change, 'type' | 'stream' | 'data'>): readonly Topic[] => {
  const topics: Topic[] = ['all', `type:${type}`];
  const [, kind, key] = THING.exec(stream) ?? [];
  if (kind !== undefined) topics.push(`${kind}:${key}` as Topic);
  if (kind === 'comment' && typeof data.articleId === 'number') topics.push(`comments:${data.articleId}`);
  return topics;
};

/** As `streamName` writes it. */
const THING = /^(article|comment|user)-(\d+)$/;
