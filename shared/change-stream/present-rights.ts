import type { StreamName } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { kindOfStream } from '#shared/events/streams.ts';
import { type Caller, may, type Resource } from '#shared/policy.ts';

/** Whether a caller may read, now, what an event happened to. */
export type IsReadable = (caller: Caller, stream: StreamName) => Promise<boolean>;

/** Runs a statement of which there are few. */
type Run = <Row extends object>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What is there, as far as rights depend on it; many that are asked for at the same time are looked up at once. */
export const createPresentRights = (run: Run): IsReadable => {
  const article = coalesce<number, Article>((ids) => findArticles(run, ids));
  const comment = coalesce<number, Comment>((ids) => findComments(run, ids));
  const user = coalesce<number, { readonly id: number }>((ids) => findUsers(run, ids));
  return async (caller, stream) => {
    const id = idOf(stream);
    const kind = kindOfStream(stream);
    switch (kind) {
      case 'article': {
        const found = id === undefined ? undefined : await article(id);
        return found !== undefined && may(caller, 'article.read', resourceOfArticle(found));
      }
      case 'comment': {
        const found = id === undefined ? undefined : await comment(id);
        return found !== undefined && may(caller, 'comment.read', resourceOfComment(found));
      }
      case 'user':
        return id !== undefined && (await user(id)) !== undefined && may(caller, 'user.read', { fields: { id } });
      // Nothing else of these can be read: whoever may know of their events may read all of them.
      case 'webhook':
      case 'session':
      case 'grant':
      case 'client':
      case 'account':
      case 'invitation':
        return true;
      case 'email':
      case 'administrators':
      case 'command':
      case undefined:
        return false;
    }
  };
};

const idOf = (stream: StreamName): number | undefined => {
  const [, id] = /^[a-zA-Z0-9]+-([1-9]\d{0,15})$/.exec(stream) ?? [];
  return id === undefined ? undefined : Number(id);
};

type Article = { readonly id: number; readonly author_id: number; readonly status: 'draft' | 'published' };
type Comment = Article & { readonly article_author_id: number };

const resourceOfArticle = ({ author_id, status }: Article): Resource => ({ fields: { author: author_id, status } });

const resourceOfComment = ({ author_id, article_author_id, status }: Comment): Resource => ({
  fields: { author: author_id, article: 0 },
  find: () => ({ author: article_author_id, status }),
});

/** One id has a statement of its own, whose one plan is right for any; that of many is planned for how many there are. */
const createFinder = <Row extends { readonly id: number }>(textOf: (condition: string) => string) => {
  const [ofOne, ofMany] = [textOf('t.id = $1::bigint'), textOf('t.id = any($1::bigint[])')];
  return async (run: Run, ids: readonly number[]): Promise<ReadonlyMap<number, Row>> => {
    const rows = await (ids.length === 1 ? run<Row>(ofOne, ids) : run<Row>(ofMany, [ids]));
    return new Map(rows.map((row) => [row.id, row]));
  };
};

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
