import type { Branded } from '#kernel/base/brands.ts';

/** Ids of the domain's aggregates, which only tests distinguish by type. */
export type ArticleId = Branded<number, 'ArticleId'>;
export type CommentId = Branded<number, 'CommentId'>;
