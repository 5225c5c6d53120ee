import type { Following } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { type FollowerOptions, startFollowing } from '#shared/follower/follower.ts';
import { actsAfter, isDeclared, REACTIONS } from './declaration.ts';
import { type Happened, notePage, pagesOf, type ReactionPage } from './fan-out.ts';
import { Overtaken, type Waiting } from './fence.ts';
import { isImported, meaningOf, noteReactions } from './note-reactions.ts';

type Dependencies = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'clock' | 'committed'> & {
  readonly domain: Domain;
  readonly following: Following;
  readonly waiting: Waiting;
};

/** A short delay that nobody notices. */
const REST_MS = 10;

/** Follows the log and records the tasks that result from events. */
export const startReactions = (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { domain, following, pool, eventLog, log, metrics, clock, committed, waiting } = dependencies;
  const catalogue = catalogueOf(domain);
  const reportDamaged = (err: unknown, { id, type, stream, version, position }: RecordedEvent): void =>
    log.error(
      { err, event: { id, type, stream, version, position } },
      'The process manager cannot read an event and skips it.',
    );
  const happened = (event: RecordedEvent): Happened | undefined => {
    const { stream, type, position } = event;
    const references = isImported(event) ? [] : (following.reactions.get(type) ?? []);
    const meaning = references.length > 0 ? meaningOf({ following, catalogue }, event, () => {}) : undefined;
    return (
      meaning && {
        parent: stream,
        type,
        position,
        references,
        cause: meaning.cause,
        isEnd: following.lastingEnds.has(type),
      }
    );
  };
  return startFollowing<ReactionPage>({
    ...{ name: REACTIONS, isRequired: false, restMs: REST_MS, pool, eventLog, log, metrics, clock },
    ...(committed && { committed }),
    isExpected: (error) => error instanceof Overtaken,
    async *follow(after, signal, event) {
      // A leader that was replaced releases the lease, even if no event arrives.
      if (!(await isDeclared(pool, following))) return waiting.begins();
      yield* pagesOf({ pool, eventLog, happened }, { after, signal, event });
    },
    async write(page, connection) {
      const after = await actsAfter(connection, following, 'for share');
      if ('before' in page) await notePage(connection, page.before);
      else await noteReactions(connection, { following, after, catalogue }, page.events, reportDamaged);
    },
  });
};
