import type { Row } from './mapping.ts';
import { type Sql, sql } from './sql.ts';
import { isGranted, rightTo, viewerId } from './viewer.ts';

/** What the caller may read of each table. */

export const isReadableUser = (user: Row): Sql => rightTo('user.read', { own: sql`${user}.id = ${viewerId}` });

/** The e-mail address and the like. */
export const isOpenUser = (user: Row): Sql => rightTo('user.read_private', { own: sql`${user}.id = ${viewerId}` });

export const isReadablePost = (post: Row): Sql =>
  rightTo('article.read', { published: sql`${post}.status = 'published'`, own: sql`${post}.author_id = ${viewerId}` });

/** The same in parts that have nothing in common, each of one status. */
export const POST_PARTS: readonly { readonly status: 'published' | 'draft'; readonly isReadable: (post: Row) => Sql }[] = [
  { status: 'published', isReadable: (post) => sql`${post}.status = 'published' and ${isReadablePost(post)}` },
  { status: 'draft', isReadable: (post) => sql`${post}.status = 'draft' and ${isGranted('article.read', 'always')}` },
  {
    status: 'draft',
    isReadable: (post) =>
      sql`${post}.status = 'draft' and ${post}.author_id = ${viewerId} and ${isGranted('article.read', 'own')} and not ${isGranted('article.read', 'always')}`,
  },
];

export const isReadableWebhook = (webhook: Row): Sql => rightTo('webhook.manage', { own: sql`${webhook}.owner_id = ${viewerId}` });

/** Rights to a comment depend on the article under which it stands. */
export const isReadableComment = (comment: Row, post: Row): Sql =>
  rightTo('comment.read', {
    published: sql`${post}.status = 'published'`,
    on_own_article: sql`${post}.author_id = ${viewerId}`,
    own: sql`${comment}.author_id = ${viewerId}`,
  });
