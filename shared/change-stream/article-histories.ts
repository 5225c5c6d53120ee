import { LRUCache } from 'lru-cache';
import type { ArticleId, Position, UserId } from '#shared/brands.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { streamName } from '#shared/events/streams.ts';
import { type ArticleHistory, isDeleted, readHistory, type StatusEvent, statusAfter, takeEvent } from './article-history.ts';

/** Every event after one position and up to another. */
export type Span = { readonly after: Position; readonly upTo: Position };

export type ArticleEvent = StatusEvent & {
  readonly articleId: ArticleId;
  /** Nothing where the event is damaged. */
  readonly authorId: UserId | undefined;
};

/** About two hundred bytes each. */
const STEPS_MAX = 100_000;
/** What an entry weighs beside its steps. */
const ENTRY_STEPS = 2;
const READS_AT_ONCE_MAX = 8;

/**
 * What articles were when, kept for those that were asked for lately. What followers of the log pass by is taken in from there:
 * while one follows in order, an article that is known stays known, and its stream is read at most once.
 */
export class ArticleHistories {
  readonly #eventLog: Pick<EventLog, 'read'>;
  readonly #known: LRUCache<ArticleId, ArticleHistory>;
  readonly #loading = new Map<ArticleId, { readonly upTo: Position; readonly history: Promise<ArticleHistory> }>();
  /** Of this, all has been taken in, furthest ahead. */
  #covered: Span = { after: START, upTo: START };

  constructor(eventLog: Pick<EventLog, 'read'>, stepsMax = STEPS_MAX) {
    this.#eventLog = eventLog;
    this.#known = new LRUCache({ maxSize: stepsMax, sizeCalculation: ({ steps }) => steps.length + ENTRY_STEPS });
  }

  /** Takes in the events of articles, all that there are in a span. */
  async take(events: readonly ArticleEvent[], span: Span): Promise<void> {
    // A read that began before these events were there must not miss them.
    for (;;) {
      const loading = events.flatMap(({ articleId }) => this.#loading.get(articleId)?.history ?? []);
      if (loading.length === 0) break;
      await Promise.allSettled(loading);
    }
    const isAhead = span.upTo > this.#covered.upTo;
    for (const event of events) this.#takeOne(event, span, isAhead);
    if (!isAhead) return;
    const isNext = span.after <= this.#covered.upTo;
    this.#covered = { after: isNext ? (Math.min(span.after, this.#covered.after) as Position) : span.after, upTo: span.upTo };
  }

  /** The histories of articles, known at each of the positions that are asked for, which lie in spans that were taken in. */
  async find(wanted: ReadonlyMap<ArticleId, Span>): Promise<ReadonlyMap<ArticleId, ArticleHistory>> {
    const found = new Map<ArticleId, ArticleHistory>();
    const unknown: [ArticleId, Span][] = [];
    for (const [articleId, span] of wanted) {
      const history = this.#known.get(articleId);
      if (history && history.from <= span.after && this.#knownUpTo(history) >= span.upTo) found.set(articleId, history);
      else unknown.push([articleId, span]);
    }
    const remaining = unknown.values();
    const load = async () => {
      for (const [articleId, span] of remaining) found.set(articleId, await this.#load(articleId, span));
    };
    await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE_MAX, unknown.length) }, load));
    return found;
  }

  #takeOne(event: ArticleEvent, span: Span, isAhead: boolean): void {
    const { articleId, authorId, position, type } = event;
    const history = this.#known.get(articleId);
    if (history && this.#knownUpTo(history) >= span.after) {
      takeEvent(history, event);
      // Its weight has changed.
      this.#known.set(articleId, history);
      return;
    }
    // Of one that is not furthest ahead, more has passed by than this span tells.
    const status = isAhead && authorId !== undefined ? statusAfter(type) : undefined;
    if (status === undefined) this.#known.delete(articleId);
    else
      this.#known.set(articleId, {
        authorId,
        from: type === 'article.drafted' ? START : position,
        upTo: position,
        steps: [{ position, status }],
      });
  }

  /** Nothing happens to what was deleted; and what is known at the beginning of the covered span is known to its end. */
  #knownUpTo(history: ArticleHistory): number {
    if (isDeleted(history)) return Number.POSITIVE_INFINITY;
    return history.upTo >= this.#covered.after ? Math.max(history.upTo, this.#covered.upTo) : history.upTo;
  }

  /** Concurrent ones share one read, unless it began before what is wanted was there. */
  async #load(articleId: ArticleId, { upTo }: Span): Promise<ArticleHistory> {
    for (let loading = this.#loading.get(articleId); loading; loading = this.#loading.get(articleId)) {
      if (loading.upTo >= upTo) return loading.history;
      await Promise.allSettled([loading.history]);
    }
    const readable = Math.max(upTo, this.#covered.upTo) as Position;
    const history = this.#read(articleId, readable).finally(() => this.#loading.delete(articleId));
    this.#loading.set(articleId, { upTo: readable, history });
    return history;
  }

  async #read(articleId: ArticleId, readable: Position): Promise<ArticleHistory> {
    const history = await readHistory(this.#eventLog.read(streamName('article', articleId)));
    // What has been heard of by now was there to be read.
    if (history.upTo < readable) history.upTo = readable;
    this.#known.set(articleId, history);
    return history;
  }
}
