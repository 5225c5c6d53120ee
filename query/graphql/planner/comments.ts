import { ERASED_TEXT } from '#shared/rest/comments.ts';
import { instantJson, plainJson, textJson } from './json.ts';
import type { Mapping } from './mapping.ts';
import type { Readable } from './readable.ts';
import { literal, sql } from './sql.ts';

const article = sql`article`;

export const commentMapping = ({ rightTo }: Readable): Mapping => ({
  table: sql`read_model.comments`,
  letter: 'c',
  values: {
    id: (comment) => plainJson(sql`${comment}.id`),
    text: (comment) => textJson(sql`coalesce(${comment}.text, ${literal(ERASED_TEXT)})`),
    createdAt: (comment) => instantJson(sql`${comment}.created_at`),
    updatedAt: (comment) => instantJson(sql`${comment}.updated_at`),
    version: (comment) => sql`${comment}.version::text`,
    // What was, is not planned.
    asOf: () => 'null',
  },
  rows: {
    author: (user, comment) => [sql`${user}.id = ${comment}.author_id and ${rightTo('user.read', user)}`],
    post: (post, comment) => [sql`${post}.id = ${comment}.article_id and ${rightTo('article.read', post)}`],
  },
  // Without its article it is about to go too.
  isReadable: (comment) =>
    sql`exists (select from read_model.articles article where article.id = ${comment}.article_id and ${rightTo('comment.read', comment, { article })})`,
  orders: {
    CREATED_AT_ASC: { column: 'created_at', descending: false },
    CREATED_AT_DESC: { column: 'created_at', descending: true },
  },
});
