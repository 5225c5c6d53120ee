import { pathId } from '#shared/rest/path-id.ts';
import { type Arguments, at } from './arguments.ts';
import { instantJson, orNull, plainJson, textJson } from './json.ts';
import type { Mapping, Row } from './mapping.ts';
import type { Value } from './parameter.ts';
import type { Readable } from './readable.ts';
import { allOf, type Sql, sql } from './sql.ts';
import { searchText, storableText } from './values.ts';

/** The posts that the caller may read and `filter` leaves; by their publication, only what is published is ordered. */
export const matchingPosts = (readable: Readable, post: Row, args: Arguments, isOfParent?: Sql): readonly [Sql, ...Sql[]] => {
  const conditions = isOfParent === undefined ? [] : [isOfParent];
  const filters = FILTERS.filter(({ name }) => args.has('filter', name)).map(({ toSql }) => toSql(post, args));
  const ofOrder = args.choice('sort')?.startsWith('PUBLISHED_AT') ? ['published'] : STATUSES;
  const asked = args.choice('filter', 'status');
  const parts = readable.partsOf('article.read').filter(({ state = '' }) => ofOrder.includes(state) && (asked ?? state) === state);
  const [first = sql`false`, ...others] = parts.map(({ isReadable }) => allOf([...conditions, isReadable(post), ...filters]));
  return [first, ...others];
};

const STATUSES = ['published', 'draft'];

const given =
  (name: string, read: (value: unknown) => Value) =>
  (values: unknown): Value =>
    read(at(values, ['filter', name]));

/** What is rare is looked up, what is frequent is met on the way through the order. */
const DECISIVE = { isDecisive: true };
const SEARCH = { ...DECISIVE, isSearch: true };

const FILTERS: readonly { readonly name: string; readonly toSql: (post: Row, args: Arguments) => Sql }[] = [
  { name: 'tag', toSql: (post, args) => sql`${post}.tags @> array[${args.value('text', given('tag', storableText), DECISIVE)}]` },
  // What is no id is nobody's.
  {
    name: 'author',
    toSql: (post, args) =>
      sql`${post}.author_id = ${args.value(
        'bigint',
        given('author', (id) => pathId(String(id)) ?? null),
      )}`,
  },
  {
    name: 'search',
    toSql: (post, args) =>
      sql`${post}.search @@ websearch_to_tsquery('simple', ${args.value('text', given('search', searchText), SEARCH)})`,
  },
];

export const postMapping = ({ rightTo }: Readable): Mapping => ({
  table: sql`read_model.articles`,
  letter: 'a',
  values: {
    id: (post) => plainJson(sql`${post}.id`),
    title: (post) => textJson(sql`${post}.title`),
    body: (post) => textJson(sql`${post}.body`),
    tags: (post) => sql`array_to_json(${post}.tags)::text`,
    status: (post) => plainJson(sql`${post}.status`),
    cover: (post) => orNull(textJson(sql`${post}.cover`)),
    createdAt: (post) => instantJson(sql`${post}.created_at`),
    updatedAt: (post) => instantJson(sql`${post}.updated_at`),
    publishedAt: (post) => orNull(instantJson(sql`${post}.published_at`)),
    version: (post) => sql`${post}.version::text`,
    // What was, is not planned.
    asOf: () => 'null',
  },
  rows: {
    author: (user, post) => [sql`${user}.id = ${post}.author_id and ${rightTo('user.read', user)}`],
    comments: (comment, post) => [sql`${comment}.article_id = ${post}.id and ${rightTo('comment.read', comment, { article: post })}`],
    commentsConnection: (comment, post) => [
      sql`${comment}.article_id = ${post}.id and ${rightTo('comment.read', comment, { article: post })}`,
    ],
  },
  isReadable: (post) => rightTo('article.read', post),
  orders: {
    CREATED_AT_DESC: { column: 'created_at', descending: true },
    CREATED_AT_ASC: { column: 'created_at', descending: false },
    PUBLISHED_AT_DESC: { column: 'published_at', descending: true },
    PUBLISHED_AT_ASC: { column: 'published_at', descending: false },
  },
});
