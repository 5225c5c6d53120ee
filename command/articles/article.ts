import { blobOfCover, isUploadPath } from '#shared/blobs/blob-name.ts';
import type { ArticleId, StreamName, UserId } from '#shared/brands.ts';
import type { DeleteArticle, DraftArticle, EditArticle, PublishArticle, UnpublishArticle } from '#shared/commands/article.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Decider } from '../decider.ts';

export const articleStream = (id: ArticleId): StreamName => streamName('article', id);

export type ArticleEvent = EventOf<'article.drafted' | 'article.edited' | 'article.published' | 'article.unpublished' | 'article.deleted'>;

export type ArticleState =
  | { readonly status: 'absent' }
  | ExistingArticle
  /** Keeps its author, because rights depend on it even when nothing is left to do. */
  | { readonly status: 'deleted'; readonly authorId: UserId };

/** The content is kept to recognise an edit that changes nothing. */
type ExistingArticle = {
  readonly status: 'draft' | 'published';
  readonly authorId: UserId;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly cover: string | null;
};

export type ArticleCommand =
  | (DraftArticle & { readonly articleId: ArticleId; readonly authorId: UserId })
  | EditArticle
  | PublishArticle
  | UnpublishArticle
  | DeleteArticle
  /** By the process manager, after the author was deleted: what was published meanwhile stays. */
  | { readonly type: 'DiscardDraft'; readonly articleId: ArticleId };

export const article: Decider<ArticleState, ArticleCommand, ArticleEvent> = {
  initial: { status: 'absent' },

  decide(command, state) {
    const { articleId } = command;
    switch (command.type) {
      case 'DraftArticle':
        return draft(command, state);
      case 'EditArticle':
        return edit(command, demandExisting(state));
      case 'PublishArticle': {
        const { status, authorId } = demandExisting(state);
        return status === 'published' ? [] : [{ type: 'article.published', data: { articleId, authorId } }];
      }
      case 'UnpublishArticle': {
        const { status, authorId } = demandExisting(state);
        return status === 'draft' ? [] : [{ type: 'article.unpublished', data: { articleId, authorId } }];
      }
      case 'DeleteArticle': {
        if (state.status === 'deleted') return [];
        const { authorId } = demandExisting(state);
        return [{ type: 'article.deleted', data: { articleId, authorId } }];
      }
      case 'DiscardDraft':
        return state.status === 'draft' ? [{ type: 'article.deleted', data: { articleId, authorId: state.authorId } }] : [];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'article.drafted': {
        const { articleId: _, ...content } = event.data;
        return { status: 'draft', ...content };
      }
      case 'article.edited': {
        if (!isExisting(state)) return state;
        const { articleId: _, ...changes } = event.data;
        return { ...state, ...changes };
      }
      case 'article.published':
        return isExisting(state) ? { ...state, status: 'published' } : state;
      case 'article.unpublished':
        return isExisting(state) ? { ...state, status: 'draft' } : state;
      case 'article.deleted':
        return { status: 'deleted', authorId: event.data.authorId };
    }
  },
};

const isExisting = (state: ArticleState): state is ExistingArticle => state.status === 'draft' || state.status === 'published';

const demandExisting = (state: ArticleState): ExistingArticle => {
  switch (state.status) {
    case 'absent':
      throw new Rejection('article_not_found');
    case 'deleted':
      throw new Rejection('article_deleted');
    case 'draft':
    case 'published':
      return state;
  }
};

const draft = (command: Extract<ArticleCommand, { type: 'DraftArticle' }>, state: ArticleState): readonly ArticleEvent[] => {
  if (state.status !== 'absent') throw new Rejection('id_taken');
  const { articleId, authorId, title, body, tags, cover } = command;
  demandOwnCover(articleId, cover);
  const drafted: ArticleEvent = { type: 'article.drafted', data: { articleId, authorId, title, body, tags, cover } };
  return command.publish ? [drafted, { type: 'article.published', data: { articleId, authorId } }] : [drafted];
};

const edit = (command: EditArticle, state: ExistingArticle): readonly ArticleEvent[] => {
  const { articleId, title, body, tags, cover } = command;
  const changes = {
    ...(title === undefined || title === state.title ? {} : { title }),
    ...(body === undefined || body === state.body ? {} : { body }),
    ...(tags === undefined || areEqual(tags, state.tags) ? {} : { tags }),
    ...(cover === undefined || cover === state.cover ? {} : { cover }),
  };
  if (Object.keys(changes).length === 0) return [];
  demandOwnCover(articleId, changes.cover ?? null);
  return [{ type: 'article.edited', data: { articleId, authorId: state.authorId, ...changes } }];
};

/** An upload goes with its article, so that no other may name it. */
const demandOwnCover = (articleId: ArticleId, cover: string | null): void => {
  if (cover === null || !isUploadPath(cover) || blobOfCover(articleId, cover) !== undefined) return;
  throw new Rejection('invalid_command', {
    errors: [{ pointer: '/cover', detail: 'Must be an upload of this article, or a picture elsewhere.' }],
  });
};

const areEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);
