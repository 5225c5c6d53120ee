import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may } from '#shared/policy.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import type { Reads } from '../read-routes.ts';
import { readableParts } from '../rights.ts';
import { poolFor, type ReadConnections } from '../searches.ts';
import { demandSource, sourcesOf } from '../sources.ts';
import type { FindArticle } from './find-article.ts';
import { articleResource, mayWrite, representArticle } from './representation.ts';
import { listArticles } from './statements.ts';

type ArticleReads = ReadConnections & { readonly domain: Domain; readonly findArticle: FindArticle };

export const articleReads = ({ domain, findArticle, ...connections }: ArticleReads): Reads<'listArticles' | 'getArticle'> => ({
  async listArticles({ caller }, asked) {
    const list = await readArticleList({ domain, pool: await poolFor(connections, asked.q) }, caller, {
      path: '/articles',
      asked,
      authorId: asked.author,
    });
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
export const readArticleList = (
  { domain, pool }: { readonly domain: Domain; readonly pool: Pool },
  caller: Caller,
  { path, asked, authorId }: ArticleList,
): Promise<ListAnswer> => {
  const order = ORDERS[asked.sort ?? '-createdAt'];
  const source = demandSource(sourcesOf(domain), 'article');
  const states = ['published', 'draft'].filter(
    (each) => (asked.status ?? each) === each && (order.column === 'created_at' || each === 'published'),
  );
  const parts = readableParts(caller, source, { states, equal: authorId === undefined ? {} : { author_id: authorId } });
  return readList({
    path,
    asked,
    order,
    read: (walk) => listArticles(pool, { parts, tag: asked.tag, q: asked.q }, walk),
    represent: (row) => representArticle(row, caller),
  });
};
