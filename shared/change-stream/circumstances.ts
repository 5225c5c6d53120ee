import type { Facts } from '#kernel/conditions/facts.ts';
import type { ArticleId, EventId, Position, StreamName, UserId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { ClearEvent } from '#shared/events/decode-clear.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Operation } from '#shared/policy.ts';
import type { ArticleEvent, ArticleHistories, Span } from './article-histories.ts';
import { type ArticleHistory, statusAfter, statusBefore } from './article-history.ts';
import { concernOf } from './who-may-know.ts';

/** A public event; nothing is clear where it is not what its definition says. */
export type Seen = { readonly event: RecordedEvent; readonly clear: ClearEvent | undefined };

/** What who may know depends on, beside the events themselves. */
export type Circumstances = {
  readonly articles: ReadonlyMap<ArticleId, ArticleHistory>;
  readonly renamings: ReadonlySet<EventId>;
};

type Sources = {
  readonly histories: ArticleHistories;
  findRenamings(events: readonly RecordedEvent[]): Promise<ReadonlySet<EventId>>;
};

/** Looks up at once what all the events of a span need. */
export const findCircumstances = async (
  { histories, findRenamings }: Sources,
  seen: readonly Seen[],
  span: Span,
): Promise<Circumstances> => {
  const findArticles = async () => {
    await histories.take(seen.flatMap(articleEventOf), span);
    return histories.find(articlesIn(seen));
  };
  const [articles, renamings] = await Promise.all([findArticles(), findRenamings(seen.map(({ event }) => event))]);
  return { articles, renamings };
};

type Told = { readonly right: Operation; readonly resource: Facts };

/** Who may know of an event: whoever has this right to this resource, which is as things stood then. */
export const tell = ({ id, type, position }: RecordedEvent, clear: ClearEvent, { articles, renamings }: Circumstances): Told => {
  const { articleId, authorId, userId, ownerId } = factsOf(clear.data);
  const article = articleId === undefined ? undefined : articles.get(articleId);
  const before = article && statusBefore(article, position);
  switch (concernOf(clear.type)) {
    case 'article': {
      const after = statusAfter(type) ?? before;
      // An article can only be unpublished that was published.
      const wasPublished = before === 'published' || type === 'article.unpublished';
      return { right: 'article.read', resource: resource({ ownerId: authorId, articleStatus: wasPublished ? 'published' : after }) };
    }
    case 'comment':
      return {
        right: 'comment.read',
        resource: resource({ ownerId: authorId, articleAuthorId: article?.authorId, articleStatus: before }),
      };
    case 'webhook':
      return { right: 'webhook.manage', resource: resource({ ownerId }) };
    case 'profile':
      return { right: 'user.read', resource: resource({ ownerId: userId }) };
    case 'profile_change':
      return { right: renamings.has(id) ? 'user.read' : 'user.read_private', resource: resource({ ownerId: userId }) };
    case 'private':
    case 'internal':
      return { right: 'user.read_private', resource: resource({ ownerId: userId }) };
  }
};

/** The data was checked by the definition of its type, so that these names hold these ids. */
const factsOf = (data: JsonObject) =>
  data as { readonly articleId?: ArticleId; readonly authorId?: UserId; readonly userId?: UserId | null; readonly ownerId?: UserId };

/** Without what is not known, so that two changes of which the same is known look the same. */
const resource = (known: Facts): Facts =>
  Object.fromEntries(Object.entries(known).filter(([, fact]) => fact !== undefined && fact !== null));

const ARTICLE = /^article-([1-9]\d{0,15})$/;

/** Told by the stream and the type, because what a damaged event did to its article counts as well. */
const articleEventOf = ({ event: { stream, type, position }, clear }: Seen): ArticleEvent[] => {
  const articleId = articleOf(stream);
  if (articleId === undefined) return [];
  return [{ articleId, type, position, authorId: clear && factsOf(clear.data).authorId }];
};

const articleOf = (stream: StreamName): ArticleId | undefined => {
  const [, id] = ARTICLE.exec(stream) ?? [];
  return id === undefined ? undefined : (Number(id) as ArticleId);
};

/** The articles of which the type of the event does not tell what they were, and where that must be known. */
const articlesIn = (seen: readonly Seen[]): ReadonlyMap<ArticleId, Span> => {
  const wanted = new Map<ArticleId, Span>();
  for (const { event, clear } of seen) {
    const articleId = clear && factsOf(clear.data).articleId;
    if (articleId === undefined || IMPLY_STATUS.has(event.type)) continue;
    const after = wanted.get(articleId)?.after ?? ((event.position - 1) as Position);
    wanted.set(articleId, { after, upTo: event.position });
  }
  return wanted;
};

const IMPLY_STATUS: ReadonlySet<string> = new Set(['article.drafted', 'article.published', 'article.unpublished']);
