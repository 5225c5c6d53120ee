import type { ArticleId, CommentId, UserId } from '#shared/brands.ts';
import { type Caller, may, type Operation, type Resource } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { type ArticleState, article, articleStream } from '../articles/article.ts';
import type { Target } from '../execute.ts';
import { authorOf, demand, type HandlerDependencies, type HandlersOf, type Outcome, type Sent } from '../handler.ts';
import type { States } from '../states.ts';
import { type CommentCommand, type CommentEvent, type CommentState, comment, commentStream } from './comment.ts';

type CommentTarget = Target<CommentState, CommentCommand, CommentEvent>;
type CommentChange = Exclude<CommentCommand, { type: 'AddComment' }>;

export const commentHandlers = ({ executor, states }: HandlerDependencies): HandlersOf<'AddComment' | 'EditComment' | 'DeleteComment'> => {
  const change = async (command: CommentChange, operation: Operation, { caller, circumstances }: Sent): Promise<Outcome> => {
    const { commentId } = command;
    const stream = commentStream(commentId);
    const seen = await placeOf(states, commentId);
    const target: CommentTarget = {
      decider: comment,
      stream,
      input: command,
      permit: (state) => demandOn(caller, operation, { state, article: seen }),
    };
    return { id: commentId, ...(await executor.change(target, circumstances)) };
  };
  return {
    AddComment: {
      operation: 'comment.add',
      async handle(command, { caller, circumstances }) {
        const authorId = authorOf(caller, command.authorId);
        const seen = await articleSeen(states, command.articleId);
        demand(caller, 'comment.add', { resource: { ownerId: authorId } });
        demandVisible(caller, seen);
        const targetOf = (id: number): CommentTarget => {
          const commentId = id as CommentId;
          const input = { ...command, commentId, authorId, articleStatus: seen.status };
          return { decider: comment, stream: commentStream(commentId), input, permit: () => {} };
        };
        return executor.create(targetOf, circumstances);
      },
    },
    EditComment: { operation: 'comment.edit', handle: (command, sent) => change(command, 'comment.edit', sent) },
    DeleteComment: { operation: 'comment.delete', handle: (command, sent) => change(command, 'comment.delete', sent) },
  };
};

/** A published article is taken as it is remembered: what comes between is followed up by the process manager. */
const articleSeen = async (states: States, articleId: ArticleId): Promise<ArticleState> => {
  const remembered = states.recall(article, articleStream(articleId))?.state;
  if (remembered?.status === 'published') return remembered;
  return (await states.load(article, articleStream(articleId))).state;
};

/** The article of a comment never changes, so that what is remembered of the comment will do to find it. */
const placeOf = async (states: States, commentId: CommentId): Promise<ArticleState> => {
  const stream = commentStream(commentId);
  const { state } = states.recall(comment, stream) ?? (await states.load(comment, stream));
  return state.status === 'absent' ? article.initial : articleSeen(states, state.articleId);
};

const demandVisible = (caller: Caller, seen: ArticleState): void => {
  if (seen.status !== 'absent' && !may(caller, 'article.read', { ownerId: seen.authorId, articleStatus: seen.status })) {
    throw new Rejection('article_not_found');
  }
};

const demandOn = (caller: Caller, operation: Operation, on: { state: CommentState; article: ArticleState }): void => {
  // The decider says that there is nothing.
  if (on.state.status === 'absent') return;
  const resource = resourceOf(on.state.authorId, on.article);
  const hidden = may(caller, 'comment.read', resource) ? undefined : new Rejection('comment_not_found');
  demand(caller, operation, { resource, hidden });
};

const resourceOf = (ownerId: UserId, seen: ArticleState): Resource =>
  seen.status === 'absent' ? { ownerId } : { ownerId, articleStatus: seen.status, articleAuthorId: seen.authorId };
