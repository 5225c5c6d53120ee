import type { Position, UserId } from '#shared/brands.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';

export type ArticleStatus = 'draft' | 'published' | 'deleted';

/** What an article was at any position after `from` and up to `upTo`, by the positions at which that changed. */
export type ArticleHistory = {
  readonly authorId: UserId | undefined;
  readonly from: Position;
  upTo: Position;
  readonly steps: Step[];
};

type Step = { readonly position: Position; readonly status: ArticleStatus };

/** An event that the type of says what an article was from then on. */
export type StatusEvent = Pick<RecordedEvent, 'type' | 'position'>;

const STATUS_AFTER: ReadonlyMap<string, ArticleStatus> = new Map([
  ['article.drafted', 'draft'],
  ['article.published', 'published'],
  ['article.unpublished', 'draft'],
  ['article.deleted', 'deleted'],
]);

export const statusAfter = (type: string): ArticleStatus | undefined => STATUS_AFTER.get(type);

/** What it was just before something happened; nothing where there was no such article. */
export const statusBefore = (history: ArticleHistory, position: Position): ArticleStatus | undefined =>
  history.steps.findLast((step) => step.position < position)?.status;

export const isDeleted = ({ steps }: ArticleHistory): boolean => steps.at(-1)?.status === 'deleted';

/** Appends what an event changed; one that is already in it changes nothing. */
export const takeEvent = (history: ArticleHistory, { type, position }: StatusEvent): void => {
  const status = statusAfter(type);
  if (position <= history.upTo) return;
  if (status !== undefined) history.steps.push({ position, status });
  history.upTo = position;
};

/** The history of an article whose whole stream this is. */
export const readHistory = async (pages: AsyncIterable<readonly RecordedEvent[]>): Promise<ArticleHistory> => {
  const history = { authorId: undefined as UserId | undefined, from: START, upTo: START, steps: [] };
  for await (const events of pages) {
    for (const event of events) {
      history.authorId ??= authorOf(event);
      takeEvent(history, event);
    }
  }
  return history;
};

/** Every event of an article names its author, who is always the same. */
const authorOf = (event: RecordedEvent): UserId | undefined =>
  Number.isSafeInteger(event.data.authorId) ? (event.data.authorId as UserId) : undefined;
