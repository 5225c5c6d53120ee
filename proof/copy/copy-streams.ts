// Over 200 lines, because it is one thing: what of a log another one lacks, and how it gets there.

import type { Position, StreamName } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import { type EventLog, FIRST, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { subjectOf } from '#shared/events/codec.ts';
import type { StreamReferences } from '#shared/events/stream-references.ts';
import { type Progress, Stopped } from '#shared/projection/catch-up.ts';
import { appendExpecting, type Order } from '../export/append-in-order.ts';
import { hashOf } from '../stored/canonical.ts';
import type { CopyKeys } from './copy-keys.ts';
import type { WantedStreams } from './wanted-streams.ts';

type CopyingStreams = {
  readonly source: EventLog;
  /** Others may write to it, but not to these streams. */
  readonly target: EventLog;
  readonly order: Order;
  readonly wanted: WantedStreams;
  referencesOf(event: RecordedEvent): StreamReferences;
  /** Streams whose events go together, after all others: nothing before them concerns them there. */
  isLast(stream: StreamName): boolean;
  readonly copyKeys: CopyKeys;
  /** Called before each append; throws if it must not happen any more. */
  demand(): void;
  /** Ends it; or with `caughtUp`, has it copy what is there then, and end. */
  readonly signal: AbortSignal;
  onProgress(step: 'check' | 'copy', progress: Progress): void;
  /** If given, new events are copied as they come, until the signal. Called once that begins. */
  caughtUp?(copied: CopiedStreams): Promise<void>;
  /** Waits until what follows from the events of the source up to a position is in it as well, or throws. */
  followed(position: Position): Promise<void>;
  /** Has the reactions of the target stand by. Called before the first append. */
  standBy(): Promise<void>;
};

export type CopiedStreams = {
  readonly streams: number;
  /** Of these streams, in the source. */
  readonly events: number;
  /** Events that this run appended. */
  readonly appended: number;
  /** The number of streams that have more events in the target. */
  readonly ahead: number;
};

/**
 * Copies some streams of a log into another log that is in use. Streams that are there with the same events
 * are completed, so that an interrupted copy resumes. A stream with other events is refused before anything is
 * written, and so are reactions of the source that lag. At the end, the appended events are read back and
 * compared.
 */
export const copyStreams = async (copying: CopyingStreams): Promise<CopiedStreams> => {
  const { source, target, signal, caughtUp, followed, standBy } = copying;
  const copy = new StreamCopy(copying);
  const upTo = await source.head();
  await walk(copying, 'check', { upTo, take: async (events) => void (await copy.check(events)) });
  await followed(upTo);
  await standBy();
  const begun = await target.head();
  await walk(copying, 'copy', { upTo, take: (events) => copy.append(events) });
  let position = upTo;
  if (caughtUp) {
    await caughtUp(copy.copied);
    for await (const events of source.follow(position, signal)) {
      await copy.append(await copy.check(events));
      position = events.at(-1)?.position ?? position;
    }
  }
  await copyRest(copying, copy, position);
  await copy.appendLast();
  await copy.compare(begun);
  return copy.copied;
};

/** Each takes as long as the reactions to the events before it. */
const ROUNDS_MAX = 50;

/**
 * Copies new events, and those that follow from them, until no other ones came meanwhile: the target would
 * react to a copied event by itself if the reaction of the source were missing.
 */
const copyRest = async (copying: CopyingStreams, copy: StreamCopy, from: Position): Promise<void> => {
  const { source, signal, caughtUp, followed } = copying;
  let position = from;
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    if (signal.aborted && !caughtUp) throw new Stopped();
    const awaited = await source.head();
    await followed(awaited);
    let isComplete = true;
    for await (const events of readBetween(source, { after: position, upTo: await source.head() })) {
      const found = await copy.check(events);
      await copy.append(found);
      position = events.at(-1)?.position ?? position;
      if (found.some((event) => event.position > awaited)) isComplete = false;
    }
    if (isComplete) return;
  }
  throw new StartRefused(
    'Writes of these streams go on. Copy them with --follow, and refuse their writes at the ingress before you end it.',
  );
};

type Walk = {
  readonly upTo: Position;
  take(events: readonly RecordedEvent[]): Promise<void>;
};

const walk = async (
  { source, signal, onProgress }: CopyingStreams,
  step: 'check' | 'copy',
  { upTo, take }: Walk,
): Promise<void> => {
  let count = 0;
  for await (const events of readBetween(source, { after: START, upTo }, signal)) {
    await take(events);
    count += events.length;
    const position = events.at(-1)?.position ?? START;
    onProgress(step, { step: 'events', events: count, position, from: START, upTo });
  }
  if (signal.aborted) throw new Stopped();
};

type Track = {
  /** Of the events that were in the target before; one that was compared is not kept. */
  readonly hashes: (Buffer | undefined)[];
  /** The last version that the source has. */
  seen: number;
  /** The last version that the target has of it. */
  present: number;
};

/** The number of streams of the target that are read at once. */
const READS_MAX = 32;

/** About 300 bytes of memory for each stream. */
class StreamCopy {
  readonly #copying: CopyingStreams;
  readonly #tracks = new Map<StreamName, Track>();
  readonly #elsewhere = new Set<StreamName>();
  readonly #last: RecordedEvent[] = [];
  readonly #sum = new HashSum();
  #events = 0;

  constructor(copying: CopyingStreams) {
    this.#copying = copying;
  }

  get copied(): CopiedStreams {
    const ahead = this.#tracks.values().reduce((sum, { seen, present }) => sum + Number(present > seen), 0);
    return { streams: this.#tracks.size, events: this.#events, appended: this.#sum.count, ahead };
  }

  /**
   * Compares the streams with those in the target, and refuses events that the target could not apply.
   * Returns the wanted events; if a stream turns out to be wanted only now, also its earlier ones.
   */
  async check(events: readonly RecordedEvent[]): Promise<readonly RecordedEvent[]> {
    const { source, target, wanted } = this.#copying;
    const selected = wanted.select(events);
    const upTo = events.at(-1)?.position ?? START;
    const earlier: RecordedEvent[] = [];
    for (const stream of selected.late)
      for await (const page of source.read(stream))
        earlier.push(...page.filter(({ position }) => position <= upTo));
    const found = [...earlier, ...selected.events.filter(({ stream }) => !selected.late.has(stream))];
    const unknown = new Set(found.map(({ stream }) => stream).filter((stream) => !this.#tracks.has(stream)));
    await someAtOnce([...unknown], async (stream) => {
      const hashes: Buffer[] = [];
      for await (const page of target.read(stream)) hashes.push(...page.map(hashOf));
      this.#tracks.set(stream, { hashes, seen: 0, present: hashes.length });
    });
    for (const event of found) this.#compare(event);
    this.#events += found.length;
    await this.#demandNamed(found);
    return found;
  }

  /** Appends what the target lacks, after `check`. */
  async append(events: readonly RecordedEvent[]): Promise<void> {
    const missing = events.filter(
      ({ stream, version }) => version > (this.#tracks.get(stream)?.present ?? Number.POSITIVE_INFINITY),
    );
    const { last = [], now = [] } = Object.groupBy(missing, ({ stream }) =>
      this.#copying.isLast(stream) ? 'last' : 'now',
    );
    this.#last.push(...last);
    await this.#append(now);
  }

  /** Each stream in one append, as far as one append takes it. */
  async appendLast(): Promise<void> {
    const streams = Map.groupBy(this.#last.splice(0), ({ stream }) => stream);
    await this.#append([...streams.values()].flat());
  }

  /** Reads back what was appended after a position of the target. */
  async compare(after: Position): Promise<void> {
    const { target } = this.#copying;
    const found = new HashSum();
    for await (const page of readBetween(target, { after, upTo: await target.head() }))
      for (const event of page) {
        const track = this.#tracks.get(event.stream);
        const isOurs = track && event.version > track.hashes.length && event.version <= track.present;
        if (isOurs) found.add(hashOf(event));
      }
    if (!found.equals(this.#sum))
      throw new StartRefused(
        `The other log does not contain the appended events: it has ${found.count} of ${this.#sum.count}, or different ones.`,
      );
  }

  async #append(events: readonly RecordedEvent[]): Promise<void> {
    if (events.length === 0) return;
    const { target, order, copyKeys, demand } = this.#copying;
    await copyKeys(events.map(subjectOf).filter((subject) => subject !== null));
    demand();
    await appendExpecting(target, order, events).catch((error: unknown) => {
      if (!(error instanceof StaleVersion)) throw error;
      throw new StartRefused(`Another process writes to ${error.stream} in the other log: ${NOT_MOVED}.`, {
        cause: error,
      });
    });
    for (const event of events) {
      const track = this.#tracks.get(event.stream);
      if (track) track.present = event.version;
      this.#sum.add(hashOf(event));
    }
  }

  #compare(event: RecordedEvent): void {
    const { stream, version } = event;
    const track = this.#tracks.get(stream);
    if (track === undefined) return;
    track.seen = version;
    const index = version - 1;
    if (index >= track.hashes.length) return;
    if (track.hashes[index]?.equals(hashOf(event)) === false)
      throw new StartRefused(
        `The other log has ${stream} with another event at version ${version}: ${NOT_MOVED}.`,
      );
    track.hashes[index] = undefined;
  }

  /** Every referenced stream is copied too, or is in the target already: rows need it. */
  async #demandNamed(events: readonly RecordedEvent[]): Promise<void> {
    const { target, referencesOf } = this.#copying;
    const named = new Map<StreamName, RecordedEvent>();
    for (const event of events)
      for (const stream of referencesOf(event).all)
        if (!this.#tracks.has(stream) && !this.#elsewhere.has(stream) && !named.has(stream))
          named.set(stream, event);
    await someAtOnce([...named], async ([stream, { stream: from, version }]) => {
      for await (const [first] of target.read(stream, FIRST, FIRST))
        if (first !== undefined) this.#elsewhere.add(stream);
      if (!this.#elsewhere.has(stream))
        throw new StartRefused(
          `${from} refers to ${stream} at version ${version}, but ${stream} is neither selected nor in the other log: copy it first, or select it as well.`,
        );
    });
  }
}

const NOT_MOVED = 'it was changed there, or is a different stream. Nothing more is copied';

const someAtOnce = async <Each>(all: readonly Each[], work: (each: Each) => Promise<void>): Promise<void> => {
  for (let from = 0; from < all.length; from += READS_MAX)
    await Promise.all(all.slice(from, from + READS_MAX).map(work));
};

/** The same for the same events in whatever order. */
class HashSum {
  count = 0;
  #sum = 0n;

  add(hash: Buffer): void {
    this.count += 1;
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash.toString('hex')}`));
  }

  equals(other: HashSum): boolean {
    return this.count === other.count && this.#sum === other.#sum;
  }
}
