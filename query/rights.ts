import type { UserId } from '#shared/brands.ts';
import { type Caller, type Fact, reachOf } from '#shared/policy.ts';

/** Articles of one status, of one author or of all: what an index holds together, in the order of lists. */
export type ArticlePart = { readonly status: ArticleStatus; readonly authorId?: number };

export type ArticleStatus = 'draft' | 'published';

type ArticleFilter = { readonly status?: ArticleStatus | undefined; readonly authorId?: number | undefined };

/**
 * The articles that a caller may read and a filter leaves, as parts that have nothing in common. A list takes a page of each
 * and merges them, so that it reads no row that it would have to leave out again, however few of all articles the caller may read.
 */
export const readableArticles = (caller: Caller, { status, authorId }: ArticleFilter): readonly ArticlePart[] =>
  partsOf(reachOf(caller, 'article.read'), caller.kind === 'user' ? caller.userId : undefined)
    .filter((part) => status === undefined || part.status === status)
    .filter((part) => authorId === undefined || part.authorId === undefined || part.authorId === authorId)
    .map((part) => (authorId === undefined ? part : { ...part, authorId }));

const partsOf = (reach: ReturnType<typeof reachOf>, userId: UserId | undefined): readonly ArticlePart[] => {
  if (reach === 'never') return [];
  if (reach === 'always') return [{ status: 'published' }, { status: 'draft' }];
  const allPublished = has(reach, 'published');
  const own: readonly ArticlePart[] = userId !== undefined && has(reach, 'own') ? ownParts(userId, allPublished) : [];
  return allPublished ? [{ status: 'published' }, ...own] : own;
};

/** What of their own is not among all that is published. */
const ownParts = (authorId: UserId, allPublished: boolean): readonly ArticlePart[] =>
  allPublished
    ? [{ status: 'draft', authorId }]
    : [
        { status: 'draft', authorId },
        { status: 'published', authorId },
      ];

const has = (facts: readonly Fact[], fact: Fact): boolean => facts.includes(fact);
