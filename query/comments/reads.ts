import type { Pool } from '#shared/database/pool.ts';
import { may } from '#shared/policy.ts';
import type { FindArticle } from '../articles/find-article.ts';
import { commentLink, commentsResource } from '../articles/representation.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import type { Reads } from '../read-routes.ts';
import type { FindComment } from './find-comment.ts';
import { commentResource, representComment } from './representation.ts';
import { listComments } from './statements.ts';

type CommentDependencies = { readonly pool: Pool; readonly findArticle: FindArticle; readonly findComment: FindComment };

export const commentReads = ({ pool, findArticle, findComment }: CommentDependencies): Reads<'listComments' | 'getComment'> => ({
  async listComments({ caller, id }, asked) {
    const article = await findArticle(id, (found) => may(caller, 'comment.read', commentsResource(found)));
    const place = { article_author_id: article.author_id, article_status: article.status };
    return readList({
      path: `/articles/${article.id}/comments`,
      asked,
      order: ORDERS[asked.sort ?? 'createdAt'],
      read: (walk) => listComments(pool, article.id, walk),
      represent: (row) => representComment({ ...row, ...place }, caller),
      create: commentLink(article, caller),
    });
  },

  async getComment({ caller, id }) {
    const comment = await findComment(id, (found) => may(caller, 'comment.read', commentResource(found)));
    return { kind: 'item', version: comment.version, item: representComment(comment, caller) };
  },
});

const ORDERS = {
  createdAt: { column: 'created_at', descending: false },
  '-createdAt': { column: 'created_at', descending: true },
} as const satisfies Record<string, Order>;
