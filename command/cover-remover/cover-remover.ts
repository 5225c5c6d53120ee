import * as z from 'zod';
import type { Domain } from '#kernel/registry/registry.ts';
import { type BlobName, blobOfUpload } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { StreamName, Version } from '#shared/brands.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { streamName } from '#shared/events/streams.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { Log } from '#shared/process/log.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';
import { traceIdOf } from '#shared/tracing/traceparent.ts';

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

/** The event by which an item may have lost uploads that it had, by their fields, with what it has then. */
type LostUploads = {
  readonly stream: StreamName;
  readonly id: number;
  readonly version: Version;
  readonly uploads: Readonly<Record<string, string | null>>;
};

type LostUploadDependencies = { readonly eventLog: Pick<EventLog, 'read'>; readonly blobs: Pick<Blobs, 'remove'> };

/** Removes the files that the item had until then, and that nothing names any more. Doing it again removes the same. */
export const removeLostUploads = async ({ eventLog, blobs }: LostUploadDependencies, lost: LostUploads): Promise<void> => {
  const before = await uploadsBefore(eventLog, lost);
  for (const [field, path] of Object.entries(lost.uploads)) {
    const blob = blobIn(lost.id, before[field]);
    if (blob !== undefined && blob !== blobIn(lost.id, path)) await blobs.remove(blob);
  }
};

/** Nothing where the event leaves the uploads as they are. Throws where the event is damaged. */
type LostUploadsIn = (event: RecordedEvent) => LostUploads | undefined;

type Losing = { readonly kind: string; readonly fields: readonly string[]; readonly isEnd: boolean };

export const lostUploadsIn = (domain: Domain): LostUploadsIn => {
  const losing = new Map(
    Object.values(domain.kinds).flatMap((kind) => {
      const fields = Object.keys(kind.fields).filter((name) => kind.fields[name]?.publicFile);
      const events = Object.values(kind.events).filter(({ effect }) => fields.length > 0 && effect !== 'creates');
      return events.map(({ type, effect }): [string, Losing] => [type, { kind: kind.name, fields, isEnd: effect === 'ends' }]);
    }),
  );
  return (event) => {
    const { kind, fields, isEnd } = losing.get(event.type) ?? { kind: '', fields: [], isEnd: false };
    const uploads = isEnd ? Object.fromEntries(fields.map((field) => [field, null])) : uploadsOf(event, fields);
    if (Object.keys(uploads).length === 0) return undefined;
    // Only what stands in clear is needed: nothing has to be unsealed.
    const id = z.int().positive().parse(event.data[`${kind}Id`]);
    return { stream: streamName(kind, id), id, version: event.version, uploads };
  };
};

/** What an event says that they are; most say nothing of them. */
const uploadsOf = ({ data }: Pick<RecordedEvent, 'data'>, fields: readonly string[]): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const path = data[field];
      return typeof path === 'string' || path === null ? [[field, path]] : [];
    }),
  );

const uploadsBefore = async (
  eventLog: LostUploadDependencies['eventLog'],
  { stream, version, uploads }: LostUploads,
): Promise<Readonly<Record<string, string | null>>> => {
  const fields = Object.keys(uploads);
  let known: Readonly<Record<string, string | null>> = {};
  for await (const events of eventLog.read(stream)) {
    for (const event of events) {
      if (event.version >= version) return known;
      known = { ...known, ...uploadsOf(event, fields) };
    }
  }
  return known;
};

const blobIn = (id: number, path: string | null | undefined): BlobName | undefined =>
  path === null || path === undefined ? undefined : blobOfUpload(id, path);
