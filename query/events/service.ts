import type { RequestHandler, Router } from 'express';
import type { Registry } from 'prom-client';
import type { Domain } from '#kernel/registry/registry.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import type { StreamSettings } from '#shared/config.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { LastingAccess } from '#shared/http/authenticate/resource-server.ts';
import type { Health } from '#shared/http/health.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Log } from '#shared/log.ts';
import type { Tracing } from '#shared/tracing/tracing.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { type Feed, openFeed } from '../changes/feed.ts';
import { createRoleWatch, type RoleWatch } from '../changes/role-watch.ts';
import type { Reads } from '../read-routes.ts';
import { type EventStreams, openEventStreams } from '../sse/event-streams.ts';
import { runPrepared } from '../statement.ts';
import { eventReads } from './reads.ts';
import { createRepresentation } from './representation.ts';
import { eventRoutes } from './routes.ts';
import { createTimes } from './times.ts';

export type EventDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'read' | 'follow'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly changes: ChangeStream;
  /** Tells when the process begins to stop. */
  readonly health: Pick<Health, 'onDrain'>;
  /** Whether a request that was let in would be now. */
  readonly access: LastingAccess;
  readonly settings: StreamSettings;
  readonly log: Log;
  readonly metrics: Registry;
  /** Off unless given. */
  readonly tracing?: Tracing;
  /** Runs before every stream. */
  readonly before: readonly RequestHandler[];
};

/** What follows the changes, and the streams that it goes out by, for `/events` and for all others. */
export type EventService = AsyncDisposable &
  Pick<RoleWatch, 'demandPresentRole'> & {
    readonly feed: Feed;
    readonly streams: EventStreams;
    /** Stands before the routes of reads, which have the pages. */
    readonly routes: Router;
    readonly reads: Reads<'listEvents'>;
  };

export const openEvents = async (dependencies: EventDependencies): Promise<EventService> => {
  const { domain, pool, eventLog, keys, changes, health, access, settings, metrics, before } = dependencies;
  await migrateAudit(pool);
  await using opening = new AsyncDisposableStack();
  const { heard, demandPresentRole } = createRoleWatch(pool, access);
  const feed = opening.use(await openFeed({ ...dependencies, onHeard: heard, moveOnMs: settings.heartbeatMs }));
  const streams = opening.use(openEventStreams({ ...settings, refusalNow: access.refusalNow, onRevoked: access.onRevoked, metrics }));
  health.onDrain(() => streams.drain());
  const represent = createRepresentation({
    domain,
    identity: eventLog.identity,
    open: createChangeOpener(dependencies),
    isReadable: createPresentRights({ domain, run: (text, values) => runPrepared(pool, text, values) }),
  });
  const times = createTimes({ pool, eventLog });
  const routes = eventRoutes({ domain, feed, streams, eventLog, times, represent, demandPresentRole, before });
  const resources = opening.move();
  return {
    feed,
    streams,
    demandPresentRole,
    routes,
    reads: eventReads({ domain, pool, keys, changes, eventLog, times, represent }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};
