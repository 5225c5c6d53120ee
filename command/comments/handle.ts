import type { CommentId, UserId } from '#shared/brands.ts';
import { type Caller, isInReach, may, type Operation, type Resource } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import { type ArticleState, article, articleStream } from '../articles/article.ts';
import type { Target } from '../execute.ts';
import { authorOf, demand, type HandlerDependencies, type HandlersOf, type Outcome, type Sent } from '../handler.ts';
import { tellsContent } from '../patch-content.ts';
import { demandAuthor } from '../users/demand-author.ts';
import { type CommentCommand, type CommentEvent, type CommentState, comment, commentStream } from './comment.ts';
import { editByPatch } from './patch.ts';

type CommentTarget = Target<CommentState, CommentEvent>;
type CommentChange = Exclude<CommentCommand, { type: 'AddComment' }>;
type Change = {
  readonly commentId: CommentId;
  readonly operation: Operation;
  /** The command, given what is there; `demandMore` refuses where the caller may not do something else as well. */
  commandOn(state: CommentState, demandMore: (operation: Operation) => void): CommentChange;
};

export const commentHandlers = ({
  executor,
  states,
}: HandlerDependencies): HandlersOf<'AddComment' | 'EditComment' | 'PatchComment' | 'DeleteComment'> => {
  const change = async ({ commentId, operation, commandOn }: Change, { caller, circumstances }: Sent): Promise<Outcome> => {
    const target: CommentTarget = {
      decider: comment,
      stream: commentStream(commentId),
      async decide(state) {
        // Whether there is anything is for the decider to say.
        const resource = state.status === 'absent' ? undefined : await resourceOf(state);
        const demandMore = (each: Operation) => (resource === undefined ? undefined : demandOn(caller, each, resource));
        demandMore(operation);
        return comment.decide(commandOn(state, demandMore), state);
      },
    };
    return { id: commentId, ...(await executor.change(target, circumstances)) };
  };
  const handling = (operation: Operation) => ({
    operation,
    handle: (command: CommentChange, sent: Sent) => change({ commentId: command.commentId, operation, commandOn: () => command }, sent),
  });

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
            await demandAuthor(states, { authorId, named: command.authorId });
            return events;
          },
        });
        return executor.create(targetOf, circumstances);
      },
    },
    EditComment: handling('comment.edit'),
    PatchComment: {
      operation: 'comment.edit',
      handle(command, sent) {
        const commandOn: Change['commandOn'] = (state, demandMore) => {
          if (tellsContent(command.patch)) demandMore('comment.read');
          return editByPatch(command, state);
        };
        return change({ commentId: command.commentId, operation: 'comment.edit', commandOn }, sent);
      },
    },
    DeleteComment: handling('comment.delete'),
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
  if (operation === 'comment.edit' && !isInReach(caller, 'comment.read', resource)) throw new Rejection('comment_not_found');
};
