import { isUploadOf, isUploadPath } from '#shared/blobs/upload-name.ts';
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
  /** Each with a line break, in one text, by whose length the state weighs. */
  readonly lostUploads: string;
};

export type ArticleCommand =
  | (DraftArticle & { readonly articleId: ArticleId; readonly authorId: UserId })
  | EditArticle
  | PublishArticle
  | UnpublishArticle
  | DeleteArticle;

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
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'article.drafted': {
        const { articleId: _, ...content } = event.data;
        return { status: 'draft', ...content, lostUploads: '' };
      }
      case 'article.edited': {
        if (!isExisting(state)) return state;
        const { articleId: _, ...changes } = event.data;
        return { ...state, ...changes, lostUploads: lostUploadsAfter(state, changes) };
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
  demandOwnCover(articleId, cover, '');
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
  demandOwnCover(articleId, changes.cover ?? null, state.lostUploads);
  return [{ type: 'article.edited', data: { articleId, authorId: state.authorId, ...changes } }];
};

const lostUploadsAfter = ({ cover, lostUploads }: ExistingArticle, changes: Pick<EditArticle, 'cover'>): string => {
  const isLost = cover !== null && isUploadPath(cover) && changes.cover !== undefined && changes.cover !== cover;
  return isLost ? `${lostUploads}${cover}\n` : lostUploads;
};

/** An upload goes with its article, so that no other may name it, and when it is lost, so that it cannot come back. */
const demandOwnCover = (articleId: ArticleId, cover: string | null, lostUploads: string): void => {
  if (cover === null || !isUploadPath(cover)) return;
  if (isUploadOf(articleId, cover) && !lostUploads.includes(`${cover}\n`)) return;
  throw new Rejection('invalid_command', {
    errors: [{ pointer: '/cover', detail: 'Must be an upload that this article has, or a picture elsewhere.' }],
  });
};

const areEqual = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each, index) => each === others[index]);
