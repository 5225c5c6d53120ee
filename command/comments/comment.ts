import type { CommentId, StreamName, UserId } from '#shared/brands.ts';
import type { AddComment, DeleteComment, EditComment } from '#shared/commands/comment.ts';
import type { EventOf } from '#shared/events/catalogue.ts';
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import type { ArticleState } from '../articles/article.ts';
import type { Decider } from '../decider.ts';

export const commentStream = (id: CommentId): StreamName => streamName('comment', id);

export type CommentEvent = EventOf<'comment.added' | 'comment.edited' | 'comment.deleted'>;

type CommentPlace = Pick<EventOf<'comment.deleted'>['data'], 'articleId' | 'authorId'>;

export type CommentState =
  | { readonly status: 'absent' }
  | PresentComment
  /** Keeps its place, because rights depend on it even when nothing is left to do. */
  | (CommentPlace & { readonly status: 'deleted' });

/** `text` is `null` once the author's key was destroyed. */
type PresentComment = CommentPlace & { readonly status: 'present'; readonly text: string | null };

export type CommentCommand =
  /** `articleStatus` is what was seen of the article just before. A deletion that comes between is followed up by the process manager. */
  | (AddComment & { readonly commentId: CommentId; readonly authorId: UserId; readonly articleStatus: ArticleState['status'] })
  | EditComment
  | DeleteComment;

export const comment: Decider<CommentState, CommentCommand, CommentEvent> = {
  initial: { status: 'absent' },

  decide(command, state) {
    switch (command.type) {
      case 'AddComment': {
        if (state.status !== 'absent') throw new Rejection('id_taken');
        demandPublished(command.articleStatus);
        const { commentId, articleId, authorId, text } = command;
        return [{ type: 'comment.added', data: { commentId, articleId, authorId, text } }];
      }
      case 'EditComment': {
        const { articleId, authorId, text } = demandPresent(state);
        // Without the author's key no text can be sealed for them any more.
        if (text === null) throw new Rejection('user_deleted');
        if (text === command.text) return [];
        return [{ type: 'comment.edited', data: { commentId: command.commentId, articleId, authorId, text: command.text } }];
      }
      case 'DeleteComment': {
        if (state.status === 'deleted') return [];
        const { articleId, authorId } = demandPresent(state);
        return [{ type: 'comment.deleted', data: { commentId: command.commentId, articleId, authorId } }];
      }
    }
  },

  evolve(_, event) {
    const { articleId, authorId } = event.data;
    switch (event.type) {
      case 'comment.added':
      case 'comment.edited':
        return { status: 'present', articleId, authorId, text: event.data.text };
      case 'comment.deleted':
        return { status: 'deleted', articleId, authorId };
    }
  },
};

const demandPublished = (status: ArticleState['status']): void => {
  switch (status) {
    case 'absent':
      throw new Rejection('article_not_found');
    case 'draft':
      throw new Rejection('article_not_published');
    case 'deleted':
      throw new Rejection('article_deleted');
    case 'published':
      return;
  }
};

const demandPresent = (state: CommentState): PresentComment => {
  switch (state.status) {
    case 'absent':
      throw new Rejection('comment_not_found');
    case 'deleted':
      throw new Rejection('comment_deleted');
    case 'present':
      return state;
  }
};
