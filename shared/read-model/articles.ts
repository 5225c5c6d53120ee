import type { DecodedEvent } from '#shared/events/codec.ts';
import type { Change, Table } from './change.ts';

type Column = 'author_id' | 'title' | 'body' | 'tags' | 'cover' | 'status' | 'created_at' | 'updated_at' | 'published_at';

export const ARTICLES: Table<Column> = {
  kind: 'article',
  person: null,
  name: 'articles',
  parent: 'author_id',
  personal: [],
  columns: {
    id: 'bigint',
    author_id: 'bigint',
    title: 'text',
    body: 'text',
    tags: 'text[]',
    cover: 'text',
    status: 'text',
    version: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    published_at: 'timestamptz',
  },
};

export type ArticleEvent = DecodedEvent<
  'article.drafted' | 'article.edited' | 'article.published' | 'article.unpublished' | 'article.deleted'
>;

export const projectArticle = (event: ArticleEvent): Change<Column> => {
  const { version } = event;
  const at = event.metadata.at;
  const id = event.data.articleId;
  switch (event.type) {
    case 'article.drafted': {
      const { authorId, title, body, tags, cover } = event.data;
      const content = { author_id: authorId, title, body, tags, cover };
      return { kind: 'put', row: { id, ...content, status: 'draft', version, created_at: at, updated_at: at, published_at: null } };
    }
    case 'article.edited': {
      const { articleId: _, authorId: __, ...changed } = event.data;
      return { kind: 'patch', row: { id, ...changed, version, updated_at: at } };
    }
    case 'article.published':
      return { kind: 'patch', row: { id, status: 'published', published_at: at, version, updated_at: at } };
    case 'article.unpublished':
      return { kind: 'patch', row: { id, status: 'draft', published_at: null, version, updated_at: at } };
    case 'article.deleted':
      return { kind: 'drop', row: { id, version } };
  }
};
