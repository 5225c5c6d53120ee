import type pg from 'pg';

// Reads as a careful user of the peers writes them: one prepared statement for each level of a query, without
// authorization.

export const TYPES = `
  type Query { user(id: ID!): User  users(limit: Int = 10): [User!]!  posts(limit: Int = 10): [Post!]! }
  type User { id: ID! name: String! posts(limit: Int = 10): [Post!]! }
  type Post { id: ID! title: String! tags: [String!]! createdAt: String! author: User! comments(limit: Int = 10): [Comment!]! }
  type Comment { id: ID! text: String! author: User! }
`;

export type Row = Readonly<Record<string, unknown>> & { readonly id: string };
type Limited = { readonly limit: number };

const USER = 'id, name';
const POST = `id, author_id, title, tags, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt"`;
const COMMENT = 'id, article_id, author_id, text';

export const createReads = (pool: pg.Pool) => {
  const run = async (name: string, text: string, values: unknown[]): Promise<Row[]> =>
    (await pool.query({ name, text, values })).rows;
  /** The rows of each parent, in the order of the parents. */
  const children = async (
    name: string,
    text: string,
    parents: readonly string[],
    { limit, column }: Limited & { column: string },
  ) => {
    const found = new Map<unknown, Row[]>(parents.map((id) => [id, []]));
    for (const row of await run(name, text, [parents, limit])) found.get(row[column])?.push(row);
    return parents.map((id) => found.get(id) ?? []);
  };
  return {
    user: async (id: string): Promise<Row | undefined> =>
      (
        await run('user', `select ${USER} from read_model.users where id = $1 and deleted_at is null`, [id])
      )[0],
    users: ({ limit }: Limited) =>
      run(
        'users',
        `select ${USER} from read_model.users where deleted_at is null order by created_at desc, id desc limit $1`,
        [limit],
      ),
    posts: ({ limit }: Limited) =>
      run(
        'posts',
        `select ${POST} from read_model.articles where status = 'published' order by read_model.articles.created_at desc, id desc limit $1`,
        [limit],
      ),
    usersById: async (ids: readonly string[]): Promise<Row[]> => {
      const rows = await run(
        'users by id',
        `select ${USER} from read_model.users where id = any($1::bigint[])`,
        [[...new Set(ids)]],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => found.get(id) as Row);
    },
    postsOf: (users: readonly string[], limited: Limited) =>
      children(
        'posts of',
        `select a.* from unnest($1::bigint[]) as u (id) cross join lateral (select ${POST} from read_model.articles a
         where author_id = u.id and status = 'published' order by a.created_at desc, a.id desc limit $2) a`,
        users,
        { ...limited, column: 'author_id' },
      ),
    commentsOf: (posts: readonly string[], limited: Limited) =>
      children(
        'comments of',
        `select c.* from unnest($1::bigint[]) as a (id) cross join lateral (select ${COMMENT} from read_model.comments c
         where article_id = a.id order by c.created_at, c.id limit $2) c`,
        posts,
        { ...limited, column: 'article_id' },
      ),
  };
};
