import pg from 'pg';
import { LIST, NESTED, POINT } from './queries.ts';
import { serve } from './serve.ts';

// Written by hand: one prepared statement with json_agg for each query, without authorization.
const pool = new pg.Pool({ connectionString: String(process.argv[2]), max: Number(process.argv[3] ?? 4) });

const STATEMENTS: Readonly<Record<string, { readonly name: string; readonly text: string }>> = {
  [NESTED]: {
    name: 'nested',
    text: `select json_build_object('users', coalesce((select json_agg(json_build_object('id', u.id::text, 'name', u.name, 'posts',
      coalesce((select json_agg(json_build_object('id', a.id::text, 'title', a.title, 'comments',
        coalesce((select json_agg(json_build_object('id', c.id::text, 'text', c.text, 'author',
          (select json_build_object('id', w.id::text, 'name', w.name) from read_model.users w where w.id = c.author_id)))
          from (select * from read_model.comments c where c.article_id = a.id order by c.created_at, c.id limit 3) c), '[]')))
        from (select * from read_model.articles a where a.author_id = u.id and a.status = 'published' order by a.created_at desc, a.id desc limit 5) a), '[]')))
      from (select * from read_model.users u where u.deleted_at is null order by u.created_at desc, u.id desc limit 10) u), '[]'))::text as data`,
  },
  [POINT]: {
    name: 'point',
    text: `select json_build_object('user', (select json_build_object('id', u.id::text, 'name', u.name) from read_model.users u
      where u.id = $1 and u.deleted_at is null))::text as data`,
  },
  [LIST]: {
    name: 'list',
    text: `select json_build_object('posts', coalesce((select json_agg(json_build_object('id', a.id::text, 'title', a.title, 'tags', a.tags,
      'createdAt', to_char(a.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'author',
        (select json_build_object('id', w.id::text, 'name', w.name) from read_model.users w where w.id = a.author_id)))
      from (select * from read_model.articles a where a.status = 'published' order by a.created_at desc, a.id desc limit 20) a), '[]'))::text as data`,
  },
};

await serve(async ({ query, variables }) => {
  const statement = STATEMENTS[query];
  if (statement === undefined) throw new Error('no statement');
  const { rows } = await pool.query<{ data: string }>({ ...statement, values: Object.values(variables) });
  return `{"data":${rows[0]?.data}}`;
});
