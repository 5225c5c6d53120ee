import pg from 'pg';

// Written by hand, for one kind of reader and without authorization: one prepared statement each, and its
// rows as JSON.

/** Two to four are best by earlier measurements (DESIGN.md, section 6); ours has eight. */
const CONNECTIONS = 4;
const INT8 = 20;
pg.types.setTypeParser(INT8, Number);

export const openByHand = (url: string) => {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  return {
    async item(id: string): Promise<object | undefined> {
      const { rows } = await pool.query({ name: 'item', text: ITEM, values: [id] });
      return rows[0] && represent(rows[0]);
    },
    async list(limit: number): Promise<readonly object[]> {
      const { rows } = await pool.query({ name: 'list', text: LIST, values: [limit] });
      return rows.map(represent);
    },
    async insert({ title, body, tags }: { title: string; body: string; tags: string[] }): Promise<number> {
      const { rows } = await pool.query({
        name: 'insert',
        text: INSERT,
        values: [AUTHOR, title, body, tags],
      });
      return rows[0].id;
    },
  };
};

const COLUMNS = `a.id, a.title, a.body, a.tags, a.status, a.author_id, u.name as author_name, a.cover, a.created_at, a.updated_at, a.published_at`;
const FROM = 'from read_model.articles a join read_model.users u on u.id = a.author_id';
const ITEM = `select ${COLUMNS} ${FROM} where a.id = $1 and a.status = 'published'`;
const LIST = `select ${COLUMNS} ${FROM} where a.status = 'published' order by a.created_at desc, a.id desc limit $1`;

const AUTHOR = 1;
const INSERT = 'insert into bare_article (author_id, title, body, tags) values ($1, $2, $3, $4) returning id';

/** The table that the contender writes to, and the shape of its first rows. */
export const BARE_TABLE = `create table bare_article (
  id bigint generated always as identity primary key, author_id bigint not null, title text not null, body text not null, tags text[] not null,
  status text not null default 'draft', created_at timestamptz not null default now(), updated_at timestamptz not null default now())`;

const represent = (row: pg.QueryResultRow) => ({
  id: row.id,
  title: row.title,
  body: row.body,
  tags: row.tags,
  status: row.status,
  author: { id: row.author_id, name: row.author_name },
  cover: row.cover,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  publishedAt: row.published_at,
  _links: {
    self: { href: `/articles/${row.id}` },
    author: { href: `/users/${row.author_id}` },
    comments: { href: `/articles/${row.id}/comments` },
  },
});
