import type { Pool } from '#shared/database/pool.ts';
import { clausesOf, type Walk } from '../lists/walk.ts';
import type { ReadablePart } from '../rights.ts';
import { createFinder, Parameters, runPlannedAnew, runShared } from '../statement.ts';
import type { ArticleRow } from './representation.ts';

const COLUMNS = `t.id, t.version, t.author_id, u.name as author_name, t.title, t.body, t.tags, t.status, t.cover,
  t.created_at, t.updated_at, t.published_at`;

/** `author_found` is false while the author is parked. */
export type FoundArticle = ArticleRow & { readonly author_found: boolean };

export const findArticles = createFinder<FoundArticle>(
  (condition) => `select ${COLUMNS}, u.id is not null as author_found
    from read_model.articles t left join read_model.users u on u.id = t.author_id where ${condition}`,
);

/** Beside those that the parts are made of. */
type ArticleFilter = { readonly tag?: string | undefined; readonly q?: string | undefined };

/**
 * A page of each part, merged; an article whose author is parked is left out. Where words or a tag are asked for, the best plan
 * depends on how frequent they are: rare ones are looked up, frequent ones met on the way through the order.
 */
export const listArticles = async (
  pool: Pool,
  { parts, tag, q }: ArticleFilter & { readonly parts: readonly ReadablePart[] },
  walk: Walk<'created_at' | 'published_at'>,
): Promise<readonly ArticleRow[]> => {
  if (parts.length === 0) return [];
  const parameters = new Parameters();
  const { where, order } = clausesOf(walk, parameters);
  const conditions = [
    ...(where === undefined ? [] : [where]),
    ...(tag === undefined ? [] : [`t.tags @> array[${parameters.add(tag)}]`]),
    ...(q === undefined ? [] : [`t.search @@ websearch_to_tsquery('simple', ${parameters.add(q)})`]),
  ];
  const selects = parts.map((part) => {
    const all = [...part(parameters), ...conditions].join(' and ');
    return `(select ${COLUMNS} from read_model.articles t join read_model.users u on u.id = t.author_id where ${all} ${order})`;
  });
  const text = `select * from (${selects.join(' union all ')}) as page ${order}`;
  const run = tag === undefined && q === undefined ? runShared : runPlannedAnew;
  return run<ArticleRow>(pool, text, parameters.values);
};
