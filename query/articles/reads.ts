import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import type { Reads } from '../read-routes.ts';
import { type ArticleStatus, readableArticles } from '../rights.ts';
import { poolFor, type ReadConnections } from '../searches.ts';
import type { FindArticle } from './find-article.ts';
import { articleResource, mayWrite, representArticle } from './representation.ts';
import { listArticles } from './statements.ts';

type ArticleReads = ReadConnections & { readonly findArticle: FindArticle };

export const articleReads = ({ findArticle, ...connections }: ArticleReads): Reads<'listArticles' | 'getArticle'> => ({
  async listArticles({ caller }, asked) {
    const list = await readArticleList(await poolFor(connections, asked.q), caller, { path: '/articles', asked, authorId: asked.author });
    return { ...list, create: mayWrite(caller) ? { href: '/articles', method: 'POST' } : undefined };
  },

  async getArticle({ caller, id }) {
    const article = await findArticle(id, (found) => may(caller, 'article.read', articleResource(found)));
    return { kind: 'item', version: article.version, item: representArticle(article, caller) };
  },
});

const ORDERS = {
  '-createdAt': { column: 'created_at', descending: true },
  createdAt: { column: 'created_at', descending: false },
  '-publishedAt': { column: 'published_at', descending: true },
  publishedAt: { column: 'published_at', descending: false },
} as const satisfies Record<string, Order>;

type ArticleList = {
  readonly path: string;
  readonly asked: Parameters<Reads['listArticlesOfUser']>[1];
  readonly authorId: number | undefined;
};

/** A list of articles, wherever it stands. */
export const readArticleList = (pool: Pool, caller: Caller, { path, asked, authorId }: ArticleList): Promise<ListAnswer> => {
  const order = ORDERS[asked.sort ?? '-createdAt'];
  const parts = readableArticles(caller, { status: asked.status, authorId });
  return readList({
    path,
    asked,
    order,
    read: (walk) =>
      listArticles(pool, { parts: order.column === 'published_at' ? parts.filter(isPublished) : parts, tag: asked.tag, q: asked.q }, walk),
    represent: (row) => representArticle(row, caller),
  });
};

const isPublished = ({ status }: { readonly status: ArticleStatus }): boolean => status === 'published';
