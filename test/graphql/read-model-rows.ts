import type { Pool } from '#shared/database/pool.ts';

/** The whole read model in memory, by tables. */
export type ReadModelRows = {
  readonly users: readonly UserRow[];
  readonly articles: readonly ArticleRow[];
  readonly comments: readonly CommentRow[];
};

export type UserRow = {
  readonly id: number;
  readonly name: string | null;
  readonly email: string | null;
  readonly role: string;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
};

export type ArticleRow = {
  readonly id: number;
  readonly author_id: number;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly cover: string | null;
  readonly status: 'draft' | 'published';
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly published_at: Date | null;
};

export type CommentRow = {
  readonly id: number;
  readonly article_id: number;
  readonly author_id: number;
  readonly text: string | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
};

const COLUMNS = {
  users: 'id, name, email, role, version, created_at, updated_at, deleted_at',
  articles: 'id, author_id, title, body, tags, cover, status, version, created_at, updated_at, published_at',
  comments: 'id, article_id, author_id, text, version, created_at, updated_at',
} as const satisfies Record<keyof ReadModelRows, string>;

/** Replaces the former rows. */
export const writeRows = async (pool: Pool, rows: ReadModelRows): Promise<void> => {
  await pool.query('truncate read_model.users, read_model.articles, read_model.comments');
  for (const table of ['users', 'articles', 'comments'] as const)
    await pool.query(
      `insert into read_model.${table} (${COLUMNS[table]})
       select ${COLUMNS[table]} from jsonb_populate_recordset(null::read_model.${table}, $1::jsonb)`,
      [JSON.stringify(rows[table])],
    );
};
