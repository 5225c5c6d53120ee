import * as z from 'zod';
import type { StreamName, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { keptUntilMs, RETAINED_SINCE } from '#kernel/base/keeping.ts';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { Defs, Domain, EventInfo, Kind, Row } from '#kernel/registry/registry.ts';
import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import { traceOf } from '#shared/tracing/trace-appends.ts';

type Removing = LostUploadDependencies & { readonly domain: Domain; readonly log: Log };

/** For the follower of a domain that has fields for files. */
export const removingLostUploads = ({ domain, eventLog, blobs, log }: Removing) => {
  const lostIn = lostUploadsIn(domain);
  return {
    concerns: (events: readonly RecordedEvent[]): boolean =>
      events.some((event) => mayHaveLost(lostIn, event)),
    async act(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> {
      for (const event of events) {
        if (signal.aborted) return;
        const lost = readLost(lostIn, event, log);
        if (lost) await removeLostUploads({ eventLog, blobs }, lost);
      }
    },
  };
};

const mayHaveLost = (lostIn: LostUploadsIn, event: RecordedEvent): boolean => {
  try {
    return lostIn(event) !== undefined;
  } catch {
    return true;
  }
};

/** A damaged event delays nothing; its picture stays, and the log reports it to the operator. */
const readLost = (lostIn: LostUploadsIn, event: RecordedEvent, log: Log): LostUploads | undefined => {
  try {
    return lostIn(event);
  } catch (err) {
    const { id, type, stream, version, position } = event;
    const traceId = traceIdOf(traceOf(event));
    log.error(
      { err, event: { id, type, stream, version, position }, traceId },
      'The cover remover cannot read an event and skips it.',
    );
    return undefined;
  }
};

/** An event by which an aggregate or one of its items may have lost uploads. */
type LostUploads = {
  readonly kind: Kind;
  readonly stream: StreamName;
  readonly id: number;
  readonly version: Version;
};

export type LostUploadDependencies = {
  readonly eventLog: Pick<EventLog, 'read'>;
  readonly blobs: Pick<Blobs, 'remove'>;
};

/**
 * Removes the files that were referenced up to the event and no longer are. Idempotent. While the aggregate is held or
 * must be kept, its former files stay; they are removed after that.
 */
export const removeLostUploads = async (
  { eventLog, blobs }: LostUploadDependencies,
  lost: LostUploads,
): Promise<void> => {
  const { kind, stream, id, version } = lost;
  const uploads = new Map<string, string>();
  const keeping = kind.hold === true || kind.retain !== undefined ? new Kept(kind) : undefined;
  let before: readonly string[] = [];
  read: for await (const events of eventLog.read(stream))
    for (const event of events) {
      if (event.version > version) break read;
      if (event.version === version) before = [...uploads.values()];
      applyTo(uploads, kind, event);
      keeping?.apply(event, uploads.values());
    }
  if (keeping?.isKept) return;
  const kept = new Set(uploads.values());
  for (const path of keeping?.files ?? new Set(before)) {
    const blob = kept.has(path) ? undefined : blobOfUpload(id, path);
    if (blob !== undefined) await blobs.remove(blob);
  }
};

/** Whether an aggregate must not lose anything after an event, and all files that it has had until then. */
class Kept {
  readonly files = new Set<string>();
  readonly #kind: Kind;
  #isHeld = false;
  #untilMs = 0;
  #atMs = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  get isKept(): boolean {
    return this.#isHeld || this.#atMs < this.#untilMs;
  }

  apply({ type, metadata }: RecordedEvent, files: Iterable<string>): void {
    const { events, retain } = this.#kind;
    const { effect, sets } = Object.values(events).find((each) => each.type === type) ?? {};
    this.#atMs = Date.parse(String(metadata.at));
    for (const file of files) this.files.add(file);
    if (typeof sets?.held === 'boolean') this.#isHeld = sets.held;
    if (retain && sets && RETAINED_SINCE in sets) this.#untilMs = keptUntilMs(metadata.at, retain);
    if (effect === 'ends') [this.#isHeld, this.#untilMs] = [false, 0];
  }
}

/** Undefined if the event keeps all uploads. Throws if the event is damaged. */
type LostUploadsIn = (event: RecordedEvent) => LostUploads | undefined;

export const lostUploadsIn = (domain: Domain): LostUploadsIn => {
  const losing = new Map(
    Object.values(domain.kinds).flatMap((kind) =>
      Object.values(kind.events).flatMap((event) => {
        const mayLose = losesBy(kind, event);
        return mayLose === undefined ? [] : [[event.type, { kind, mayLose }] as const];
      }),
    ),
  );
  return (event) => {
    const { kind, mayLose } = losing.get(event.type) ?? {};
    if (kind === undefined || !mayLose?.(event.data)) return undefined;
    // The clear fields suffice; nothing is decrypted.
    const id = z.int().positive().parse(event.data[`${kind.name}Id`]);
    return { kind, stream: streamName(kind.name, id), id, version: event.version };
  };
};

const uploadsIn = (defs: Defs): readonly string[] =>
  Object.keys(defs).filter((name) => defs[name]?.kind === 'upload');

const hasUploads = ({ fields, lists }: Kind): boolean =>
  [fields, ...Object.values(lists).map((list) => list.fields)].some((defs) => uploadsIn(defs).length > 0);

/** Returns a check whether an event may remove uploads; undefined for types that never do. */
const losesBy = (kind: Kind, { effect, list, sets }: EventInfo): ((data: Row) => boolean) | undefined => {
  const own = uploadsIn(kind.fields);
  if (kind.hold === true && sets.held === false && hasUploads(kind)) return () => true;
  const ofItems = list === undefined ? [] : uploadsIn(list.fields);
  const isSetting = own.some((name) => name in sets);
  const says =
    (names: readonly string[]) =>
    (data: Row): boolean =>
      isSetting || names.some((name) => isValue(data[name]));
  switch (effect) {
    case 'ends':
      return hasUploads(kind) ? () => true : undefined;
    case 'changes':
    case 'sets':
      return own.length > 0 ? says(own) : undefined;
    case 'updates':
      return ofItems.length > 0 || isSetting ? says(ofItems) : undefined;
    case 'removes':
      return ofItems.length > 0 || isSetting ? () => true : undefined;
    default:
      return isSetting && effect !== 'creates' ? () => true : undefined;
  }
};

const isValue = (value: unknown): value is string | null => typeof value === 'string' || value === null;

/** The uploads of an aggregate after an event, by path: `receipts`, or `items/3/receipt`. */
const applyTo = (
  uploads: Map<string, string>,
  kind: Kind,
  { type, data }: Pick<RecordedEvent, 'type' | 'data'>,
): void => {
  const event = Object.values(kind.events).find((each) => each.type === type);
  if (event === undefined) return;
  const { effect, list, sets } = event;
  const put = (path: string, value: unknown): void => {
    if (typeof value === 'string') uploads.set(path, value);
    else if (value === null) uploads.delete(path);
  };
  if (effect === 'ends') {
    uploads.clear();
    return;
  }
  if (list === undefined) for (const name of uploadsIn(kind.fields)) put(name, data[name]);
  else
    for (const name of uploadsIn(list.fields))
      put(`${list.name}/${data[list.id.name]}/${name}`, effect === 'removes' ? null : data[name]);
  for (const name of uploadsIn(kind.fields)) if (name in sets) put(name, sets[name]);
};
