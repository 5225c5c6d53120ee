import type { Pool } from '#shared/database/pool.ts';
import { clausesOf, type Walk } from '../lists/walk.ts';
import { createFinder, Parameters, runShared } from '../statement.ts';
import type { CommentPlace, CommentRow } from './representation.ts';

const COLUMNS = 't.id, t.version, t.article_id, t.author_id, u.name as author_name, t.text, t.created_at, t.updated_at';

/** The place is null where the article is parked, or was deleted a moment ago; `author_found` is false while the author is parked. */
export type FoundComment = CommentRow & { readonly [Field in keyof CommentPlace]: CommentPlace[Field] | null } & {
  readonly author_found: boolean;
};

export const findComments = createFinder<FoundComment>(
  (condition) => `select ${COLUMNS},
      u.id is not null as author_found, a.author_id as article_author_id, a.status as article_status
    from read_model.comments t
    left join read_model.users u on u.id = t.author_id
    left join read_model.articles a on a.id = t.article_id
    where ${condition}`,
);

/** Those on one article; one whose author is parked is left out. */
export const listComments = async (pool: Pool, articleId: number, walk: Walk<'created_at'>): Promise<readonly CommentRow[]> => {
  const parameters = new Parameters();
  const { where, order } = clausesOf(walk, parameters);
  const conditions = [`t.article_id = ${parameters.add(articleId)}`, ...(where === undefined ? [] : [where])].join(' and ');
  const text = `select ${COLUMNS} from read_model.comments t join read_model.users u on u.id = t.author_id where ${conditions} ${order}`;
  return runShared<CommentRow>(pool, text, parameters.values);
};
