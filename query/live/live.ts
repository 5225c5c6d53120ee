import { type Feed, openFeed } from '../changes/feed.ts';
import { createRoleWatch, type RoleWatch } from '../changes/role-watch.ts';
import type { QueryResources } from '../resources.ts';
import { type EventStreams, openEventStreams } from '../sse/event-streams.ts';
import { openViewFeed, type ViewFeed } from '../views/feed.ts';

/** The feed of changes and the streams that deliver it, by any interface. */
export type Live = AsyncDisposable &
  Pick<RoleWatch, 'demandPresentRole'> & {
    readonly feed: Feed;
    readonly views: ViewFeed;
    readonly streams: EventStreams;
  };

/** Follows the changes, once for all parts that deliver them. */
export const openLive = async (resources: QueryResources): Promise<Live> => {
  const { domain, pool, access, health, metrics, config, notifier, clock } = resources;
  const { streams: settings } = config;
  await using opening = new AsyncDisposableStack();
  const { receive, demandPresentRole } = createRoleWatch(domain, pool, access);
  const changes = opening.use(
    await openFeed({ ...resources, onReceived: receive, moveOnMs: settings.heartbeatMs }),
  );
  const streams = opening.use(
    openEventStreams({ ...settings, refusalNow: access.refusalNow, onRevoked: access.onRevoked, metrics }),
  );
  health.onDrain(() => streams.drain());
  const rows = opening.use(openViewFeed({ domain, pool, notifier, clock, moveOnMs: settings.heartbeatMs }));
  const { feed, views } = await recorded(resources, { feed: changes, views: rows });
  const opened = opening.move();
  return { feed, views, streams, demandPresentRole, [Symbol.asyncDispose]: () => opened.disposeAsync() };
};

const recorded = async (
  { domain, readLog }: QueryResources,
  { feed, views }: Pick<Live, 'feed' | 'views'>,
): Promise<Pick<Live, 'feed' | 'views'>> => {
  if (readLog === undefined) return { feed, views };
  const { recordFeed, recordViews } = await import('./record.ts');
  return { feed: recordFeed(readLog, feed), views: recordViews(domain, readLog, views) };
};
