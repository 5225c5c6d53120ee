import type { Domain } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/log.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { traceIdOf } from '#shared/tracing/traceparent.ts';
import { type LostUploadDependencies, type LostUploads, type LostUploadsIn, lostUploadsIn, removeLostUploads } from './lost-uploads.ts';

export type CoverRemoverDependencies = LostUploadDependencies & { readonly domain: Domain } & Omit<
    FollowerOptions,
    'name' | 'act' | 'prepare' | 'write' | 'committed' | 'isRequired'
  >;

/** Pictures that linger a little harm nobody. */
const REST_MS = 200;

/**
 * Removes the pictures that items have lost, in one process at a time. It follows the log on its own, so that a store that
 * is away holds up nothing else: neither what is deleted with something, nor the erasure of a person.
 */
export const startCoverRemover = (dependencies: CoverRemoverDependencies): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, blobs, log, metrics } = dependencies;
  const lostIn = lostUploadsIn(domain);
  return startFollower({
    name: 'cover-remover',
    isRequired: false,
    restMs: REST_MS,
    pool,
    eventLog,
    log,
    metrics,
    async act(events, signal) {
      for (const event of events) {
        if (signal.aborted) return;
        const lost = readLost(lostIn, event, log);
        if (lost) await removeLostUploads({ eventLog, blobs }, lost);
      }
    },
  });
};

/** A damaged event holds up nothing; its picture stays, and whoever looks after the system is told. */
const readLost = (lostIn: LostUploadsIn, event: RecordedEvent, log: Log): LostUploads | undefined => {
  try {
    return lostIn(event);
  } catch (err) {
    const { id, type, stream, version, position } = event;
    const traceId = traceIdOf(traceOf(event));
    log.error(
      { err, event: { id, type, stream, version, position }, traceId },
      'The cover remover cannot read an event and passes it over.',
    );
    return undefined;
  }
};
