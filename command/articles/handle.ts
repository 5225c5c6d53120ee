import type { ArticleId } from '#shared/brands.ts';
import { type Caller, may, type Operation } from '#shared/policy.ts';
import { Rejection } from '#shared/rejection.ts';
import type { Target } from '../execute.ts';
import { authorOf, demand, type HandlerDependencies, type HandlersOf, type Outcome, type Sent } from '../handler.ts';
import { tellsContent } from '../patch-content.ts';
import { demandAuthor } from '../users/demand-author.ts';
import { type ArticleCommand, type ArticleEvent, type ArticleState, article, articleStream } from './article.ts';
import { editByPatch } from './patch.ts';

type ArticleTarget = Target<ArticleState, ArticleEvent>;
type ArticleChange = Exclude<ArticleCommand, { type: 'DraftArticle' }>;
type Change = { readonly articleId: ArticleId; readonly operation: Operation; commandOn(state: ArticleState): ArticleChange };

export const articleHandlers = ({
  executor,
  states,
}: HandlerDependencies): HandlersOf<
  'DraftArticle' | 'EditArticle' | 'PatchArticle' | 'PublishArticle' | 'UnpublishArticle' | 'DeleteArticle'
> => {
  const change = async ({ articleId, operation, commandOn }: Change, { caller, circumstances }: Sent): Promise<Outcome> => {
    const target: ArticleTarget = {
      decider: article,
      stream: articleStream(articleId),
      decide(state) {
        demandOn(caller, operation, state);
        return article.decide(commandOn(state), state);
      },
    };
    return { id: articleId, ...(await executor.change(target, circumstances)) };
  };
  const handling = (operation: Operation) => ({
    operation,
    handle: (command: ArticleChange, sent: Sent) => change({ articleId: command.articleId, operation, commandOn: () => command }, sent),
  });
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
              await demandAuthor(states, { authorId, named: command.authorId });
              return article.decide({ ...command, articleId, authorId }, state);
            },
          };
        };
        return executor.create(targetOf, circumstances);
      },
    },
    EditArticle: handling('article.edit'),
    PatchArticle: {
      operation: 'article.edit',
      handle(command, sent) {
        const commandOn = (state: ArticleState): ArticleChange => {
          if (tellsContent(command.patch)) demandOn(sent.caller, 'article.read', state);
          return editByPatch(command, state);
        };
        return change({ articleId: command.articleId, operation: 'article.edit', commandOn }, sent);
      },
    },
    PublishArticle: handling('article.publish'),
    UnpublishArticle: handling('article.unpublish'),
    DeleteArticle: handling('article.delete'),
  };
};

const demandOn = (caller: Caller, operation: Operation, state: ArticleState): void => {
  // The decider says that there is nothing.
  if (state.status === 'absent') return;
  const resource = { ownerId: state.authorId, articleStatus: state.status };
  const hidden = may(caller, 'article.read', resource) ? undefined : new Rejection('article_not_found');
  demand(caller, operation, { resource, hidden });
};
