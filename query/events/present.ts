import type { StreamName, UserId } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';
import { coalesce } from '../coalesce.ts';
import { createFinder } from '../statement.ts';

/** Whether a caller may read, now, what an event happened to. */
export type IsReadable = (caller: Caller, stream: StreamName) => Promise<boolean>;

/** What is there, as far as rights depend on it; many that are asked for at the same time are looked up at once. */
export const createPresentRights = (pool: Pool): IsReadable => {
  const article = coalesce<number, Article>((ids) => findArticles(pool, ids));
  const comment = coalesce<number, Comment>((ids) => findComments(pool, ids));
  const user = coalesce<number, { readonly id: number }>((ids) => findUsers(pool, ids));
  return async (caller, stream) => {
    const [, kind, key] = THING.exec(stream) ?? [];
    const id = Number(key);
    switch (kind) {
      case 'article': {
        const found = await article(id);
        return found !== undefined && may(caller, 'article.read', resourceOfArticle(found));
      }
      case 'comment': {
        const found = await comment(id);
        return found !== undefined && may(caller, 'comment.read', resourceOfComment(found));
      }
      case 'user':
        return (await user(id)) !== undefined && may(caller, 'user.read', { ownerId: id as UserId });
      default:
        // Sessions and the like are read nowhere else: who may know of them may know all.
        return true;
    }
  };
};

const THING = /^(article|comment|user)-(\d+)$/;

type Article = { readonly id: number; readonly author_id: number; readonly status: 'draft' | 'published' };
type Comment = Article & { readonly article_author_id: number };

const resourceOfArticle = ({ author_id, status }: Article): Resource => ({ ownerId: author_id as UserId, articleStatus: status });

const resourceOfComment = ({ author_id, article_author_id, status }: Comment): Resource => ({
  ownerId: author_id as UserId,
  articleAuthorId: article_author_id as UserId,
  articleStatus: status,
});

const findArticles = createFinder<Article>(
  (condition) => `select t.id, t.author_id, t.status from read_model.articles t where ${condition}`,
);

const findComments = createFinder<Comment>(
  (condition) => `select t.id, t.author_id, a.author_id as article_author_id, a.status
    from read_model.comments t join read_model.articles a on a.id = t.article_id where ${condition}`,
);

const findUsers = createFinder<{ readonly id: number }>(
  (condition) => `select t.id from read_model.users t where ${condition} and t.deleted_at is null`,
);
