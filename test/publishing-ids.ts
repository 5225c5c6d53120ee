import type { Branded } from '#shared/brands.ts';

/** Ids of what the domain declares, which only tests tell apart by type. */
export type ArticleId = Branded<number, 'ArticleId'>;
export type CommentId = Branded<number, 'CommentId'>;
