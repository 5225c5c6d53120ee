import type { Expression } from '#kernel/conditions/expression.ts';
import { partsIn } from '#kernel/conditions/parts.ts';
import { type Caller, reachOf } from '#shared/policy.ts';

/** Articles of one status, of one author or of all: what an index holds together, in the order of lists. */
export type ArticlePart = { readonly status: ArticleStatus; readonly authorId?: number };

export type ArticleStatus = 'draft' | 'published';

type ArticleFilter = { readonly status?: ArticleStatus | undefined; readonly authorId?: number | undefined };

/**
 * The articles that a caller may read and a filter leaves, as parts that have nothing in common. A list takes a page of each
 * and merges them, so that it reads no row that it would have to leave out again, however few of all articles the caller may read.
 */
export const readableArticles = (caller: Caller, { status, authorId }: ArticleFilter): readonly ArticlePart[] =>
  partsOf(caller)
    .filter((part) => status === undefined || part.status === status)
    .filter((part) => authorId === undefined || part.authorId === undefined || part.authorId === authorId)
    .map((part) => (authorId === undefined ? part : { ...part, authorId }));

const partsOf = (caller: Caller): readonly ArticlePart[] => {
  if (caller.kind === 'system') return [{ status: 'published' }, { status: 'draft' }];
  const right = caller.policy.rights.get('article.read');
  const userId = caller.kind === 'user' ? caller.userId : undefined;
  return right === undefined
    ? []
    : partsIn(right, reachOf(caller, 'article.read')).flatMap(({ state, left }) => partOf(state, left, userId));
};

/** What is asked of an article of a state is nothing, or that the caller wrote it. */
const partOf = (state: string, left: Expression, userId: number | undefined): readonly ArticlePart[] => {
  const status = state as ArticleStatus;
  if (left.op === 'const') return [{ status }];
  if (left.op !== 'caller') throw new Error(`No index holds the articles of which ${JSON.stringify(left)} is true`);
  return userId === undefined ? [] : [{ status, authorId: userId }];
};
