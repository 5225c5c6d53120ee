import type { CommentId, UserId } from '#shared/brands.ts';
import { type Caller, may, type Operation, type Resource } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { type ArticleState, article, articleStream } from '../articles/article.ts';
import type { Target } from '../execute.ts';
import { authorOf, demand, type HandlerDependencies, type HandlersOf, type Outcome, type Sent } from '../handler.ts';
import { demandPerson } from '../users/demand-person.ts';
import { type CommentCommand, type CommentEvent, type CommentState, comment, commentStream } from './comment.ts';

type CommentTarget = Target<CommentState, CommentEvent>;
type CommentChange = Exclude<CommentCommand, { type: 'AddComment' }>;

export const commentHandlers = ({ executor, states }: HandlerDependencies): HandlersOf<'AddComment' | 'EditComment' | 'DeleteComment'> => {
  const change = async (command: CommentChange, operation: Operation, { caller, circumstances }: Sent): Promise<Outcome> => {
    const { commentId } = command;
    const target: CommentTarget = {
      decider: comment,
      stream: commentStream(commentId),
      async decide(state) {
        // Whether there is anything is for the decider to say.
        if (state.status !== 'absent') demandOn(caller, operation, await resourceOf(state));
        return comment.decide(command, state);
      },
    };
    return { id: commentId, ...(await executor.change(target, circumstances)) };
  };

  const resourceOf = async ({ articleId, authorId }: Exclude<CommentState, { status: 'absent' }>): Promise<Resource> => {
    const { state } = await states.load(article, articleStream(articleId));
    return { ownerId: authorId, ...placeOf(state) };
  };

  return {
    AddComment: {
      operation: 'comment.add',
      async handle(command, { caller, circumstances }) {
        const authorId = authorOf(caller, command.authorId);
        const targetOf = (id: number): CommentTarget => ({
          decider: comment,
          stream: commentStream(id as CommentId),
          async decide(state) {
            demand(caller, 'comment.add', { resource: { ownerId: authorId } });
            const { state: seen } = await states.load(article, articleStream(command.articleId));
            demandVisible(caller, seen);
            const events = comment.decide({ ...command, commentId: id as CommentId, authorId, articleStatus: seen.status }, state);
            await demandPerson(states, authorId);
            return events;
          },
        });
        return executor.create(targetOf, circumstances);
      },
    },
    EditComment: { operation: 'comment.edit', handle: (command, sent) => change(command, 'comment.edit', sent) },
    DeleteComment: { operation: 'comment.delete', handle: (command, sent) => change(command, 'comment.delete', sent) },
  };
};

const placeOf = (seen: ArticleState): { articleStatus?: 'draft' | 'published' | 'deleted'; articleAuthorId?: UserId } =>
  seen.status === 'absent' ? {} : { articleStatus: seen.status, articleAuthorId: seen.authorId };

const demandVisible = (caller: Caller, seen: ArticleState): void => {
  if (seen.status !== 'absent' && !may(caller, 'article.read', { ownerId: seen.authorId, articleStatus: seen.status })) {
    throw new Rejection('article_not_found');
  }
};

const demandOn = (caller: Caller, operation: Operation, resource: Resource): void => {
  const hidden = may(caller, 'comment.read', resource) ? undefined : new Rejection('comment_not_found');
  demand(caller, operation, { resource, hidden });
};
