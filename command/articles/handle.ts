import type { ArticleId } from '#shared/brands.ts';
import { type Caller, may, type Operation } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Target } from '../execute.ts';
import { authorOf, demand, type HandlerDependencies, type HandlersOf, type Outcome, type Sent } from '../handler.ts';
import { demandPerson } from '../users/demand-person.ts';
import { type ArticleCommand, type ArticleEvent, type ArticleState, article, articleStream } from './article.ts';

type ArticleTarget = Target<ArticleState, ArticleEvent>;
type ArticleChange = Exclude<ArticleCommand, { type: 'DraftArticle' }>;

export const articleHandlers = ({
  executor,
  states,
}: HandlerDependencies): HandlersOf<'DraftArticle' | 'EditArticle' | 'PublishArticle' | 'UnpublishArticle' | 'DeleteArticle'> => {
  const change = async (command: ArticleChange, operation: Operation, { caller, circumstances }: Sent): Promise<Outcome> => {
    const { articleId } = command;
    const target: ArticleTarget = {
      decider: article,
      stream: articleStream(articleId),
      decide(state) {
        demandOn(caller, operation, state);
        return article.decide(command, state);
      },
    };
    return { id: articleId, ...(await executor.change(target, circumstances)) };
  };
  return {
    DraftArticle: {
      operation: 'article.create',
      async handle(command, { caller, circumstances }) {
        const authorId = authorOf(caller, command.authorId);
        const targetOf = (id: number): ArticleTarget => {
          const articleId = id as ArticleId;
          return {
            decider: article,
            stream: articleStream(articleId),
            async decide(state) {
              demand(caller, 'article.create', { resource: { ownerId: authorId } });
              if (command.publish) demand(caller, 'article.publish', { resource: { ownerId: authorId } });
              await demandPerson(states, authorId);
              return article.decide({ ...command, articleId, authorId }, state);
            },
          };
        };
        return executor.create(targetOf, circumstances);
      },
    },
    EditArticle: { operation: 'article.edit', handle: (command, sent) => change(command, 'article.edit', sent) },
    PublishArticle: { operation: 'article.publish', handle: (command, sent) => change(command, 'article.publish', sent) },
    UnpublishArticle: { operation: 'article.unpublish', handle: (command, sent) => change(command, 'article.unpublish', sent) },
    DeleteArticle: { operation: 'article.delete', handle: (command, sent) => change(command, 'article.delete', sent) },
  };
};

const demandOn = (caller: Caller, operation: Operation, state: ArticleState): void => {
  // The decider says that there is nothing.
  if (state.status === 'absent') return;
  const resource = { ownerId: state.authorId, articleStatus: state.status };
  const hidden = may(caller, 'article.read', resource) ? undefined : new Rejection('article_not_found');
  demand(caller, operation, { resource, hidden });
};
