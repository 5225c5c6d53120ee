import type { DecodedEvent } from '#shared/events/codec.ts';
import { type Change, sealOf, type Table } from './change.ts';

type Column = 'article_id' | 'author_id' | 'text' | 'seal' | 'created_at' | 'updated_at';

export const COMMENTS: Table<Column> = {
  kind: 'comment',
  person: 'author_id',
  name: 'comments',
  parent: 'article_id',
  personal: ['text'],
  columns: {
    id: 'bigint',
    article_id: 'bigint',
    author_id: 'bigint',
    text: 'text',
    seal: 'text',
    version: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
};

export type CommentEvent = DecodedEvent<'comment.added' | 'comment.edited' | 'comment.deleted'>;

export const projectComment = (event: CommentEvent): Change<Column> => {
  const { version } = event;
  const at = event.metadata.at;
  const { commentId: id, articleId, authorId } = event.data;
  switch (event.type) {
    case 'comment.added': {
      const place = { id, article_id: articleId, author_id: authorId };
      return { kind: 'put', row: { ...place, text: event.data.text, seal: event.seal ?? null, version, created_at: at, updated_at: at } };
    }
    case 'comment.edited':
      return { kind: 'patch', row: { id, text: event.data.text, ...sealOf(event), version, updated_at: at } };
    case 'comment.deleted':
      return { kind: 'drop', row: { id, version } };
  }
};
