import { publishing } from '../../domain/publishing.ts';
import { migrateProjector } from '../../projector/migrate.ts';
import type { Pool } from '../../shared/database/pool.ts';
import { LIVE_SCHEMA } from '../../shared/database/read-model-schemas.ts';
import '../../shared/needed/all.ts';
import { createReadModel } from '../../shared/projection/schema.ts';
import { tablesOf } from '../../shared/read-model/tables.ts';

/** The number of rows: a tenth of the articles are drafts. */
export type Size = { readonly users: number; readonly articles: number; readonly comments: number };

export const FIRST_ID = { users: 1, articles: 10_000_001, comments: 20_000_001 } as const;

/** Fills an empty database with the read model. */
export const writeData = async (pool: Pool, { users, articles, comments }: Size): Promise<void> => {
  // Without a table of migrations, a start would treat the schema as somebody else's.
  await migrateProjector(pool);
  await createReadModel(pool, tablesOf(publishing), LIVE_SCHEMA);
  const connection = await pool.connect();
  try {
    await connection.query(
      `insert into read_model.users (id, name, email, role, version, created_at, updated_at)
       select ${FIRST_ID.users} + i, 'User "' || i || '" Müller', 'user' || i || '@example.com', (array['reader', 'author', 'admin'])[1 + i % 3], 1,
         date_trunc('milliseconds', now() - ($1 - i) * interval '1 minute'), date_trunc('milliseconds', now())
       from generate_series(0, $1::int - 1) i`,
      [users],
    );
    await connection.query(
      `insert into read_model.articles (id, author_id, title, body, tags, status, version, created_at, updated_at, published_at)
       select ${FIRST_ID.articles} + i, ${FIRST_ID.users} + (i * 7::bigint) % $2, 'Title ' || i || ' of "all"', repeat('Some words of a body, ' || i || '. ', 40),
         array['engines', 't' || i % 10], case when i % 10 = 0 then 'draft' else 'published' end, 2, at, at, case when i % 10 = 0 then null else at end
       from (select i, date_trunc('milliseconds', now() - ($1 - i) * interval '1 second') as at from generate_series(0, $1::int - 1) i) t`,
      [articles, users],
    );
    await connection.query(
      `insert into read_model.comments (id, article_id, author_id, text, version, created_at, updated_at)
       select ${FIRST_ID.comments} + i, ${FIRST_ID.articles} + (i * 11::bigint) % $2, ${FIRST_ID.users} + (i * 13::bigint) % $3,
         'A comment, number ' || i || E', with\\nlines and "quotes".', 1, at, at
       from (select i, date_trunc('milliseconds', now() - ($1 - i) * interval '1 second') as at from generate_series(0, $1::int - 1) i) t`,
      [comments, articles, users],
    );
    await connection.query('vacuum analyze');
  } finally {
    connection.release();
  }
};
