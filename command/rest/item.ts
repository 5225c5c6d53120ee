import type { Request } from 'express';
import type { ArticleId, CommentId, UserId } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import { pathId } from '#shared/rest/path-id.ts';

type Ids = { readonly userId: UserId; readonly articleId: ArticleId; readonly commentId: CommentId };

/** The ids that a path holds, by name: `/articles/{articleId}/comments` has `articleId`. */
export type ItemOf<Path extends string> = Path extends `${string}{${infer Name extends keyof Ids}}${infer Rest}`
  ? Pick<Ids, Name> & ItemOf<Rest>
  : Readonly<Record<never, never>>;

const NOT_FOUND = {
  userId: 'user_not_found',
  articleId: 'article_not_found',
  commentId: 'comment_not_found',
} as const satisfies Record<keyof Ids, string>;

/** Reads the ids in the path of a request; what is no id is answered as the id of nothing. */
export const itemOf = <Path extends string>(_operation: { readonly path: Path }, { params }: Pick<Request, 'params'>): ItemOf<Path> => {
  const ids = Object.entries(params).map(([name, text]) => {
    const id = pathId(String(text));
    if (id === undefined) throw new Rejection(NOT_FOUND[name as keyof Ids]);
    return [name, id] as const;
  });
  // Express has matched the path of the operation, so that these are its parameters.
  return Object.fromEntries(ids) as ItemOf<Path>;
};
