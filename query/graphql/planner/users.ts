import { DELETED_USER } from '#shared/rest/users.ts';
import { instantJson, orNull, plainJson, textJson } from './json.ts';
import type { Mapping, Row } from './mapping.ts';
import { matchingPosts } from './posts.ts';
import type { Readable } from './readable.ts';
import { literal, type Sql, sql } from './sql.ts';

/** For the user and administrators; null for others. */
const privatelyBy =
  ({ rightTo }: Readable) =>
  (json: (user: Row) => Sql) =>
  (user: Row): Sql =>
    sql`case when ${isPresent(user)} and ${rightTo('user.read_private', user)} then ${json(user)} else 'null' end`;

/** Those who were deleted stay as authors only. */
export const isPresent = (user: Row): Sql => sql`${user}.deleted_at is null`;

export const userMapping = (readable: Readable): Mapping => {
  const privately = privatelyBy(readable);
  return {
    table: sql`read_model.users`,
    letter: 'u',
    values: {
      id: (user) => plainJson(sql`${user}.id`),
      name: (user) => textJson(sql`coalesce(${user}.name, ${literal(DELETED_USER)})`),
      email: privately((user) => orNull(textJson(sql`${user}.email`))),
      role: privately((user) => sql`'"' || ${user}.role || '"'`),
      createdAt: privately((user) => instantJson(sql`${user}.created_at`)),
      updatedAt: privately((user) => instantJson(sql`${user}.updated_at`)),
      version: (user) => sql`${user}.version::text`,
      // What was, is not planned.
      asOf: () => 'null',
    },
    rows: {
      posts: (post, user, args) => matchingPosts(readable, post, args, sql`${post}.author_id = ${user}.id`),
      postsConnection: (post, user, args) => matchingPosts(readable, post, args, sql`${post}.author_id = ${user}.id`),
    },
    isReadable: (user) => sql`${isPresent(user)} and ${readable.rightTo('user.read', user)}`,
    orders: {
      CREATED_AT_DESC: { column: 'created_at', descending: true },
      CREATED_AT_ASC: { column: 'created_at', descending: false },
    },
  };
};
