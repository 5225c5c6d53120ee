import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Lane, Rendered, Written } from './lane.ts';
import type { RenderAhead } from './render-ahead.ts';
import type { IndexedChange, Ring } from './ring.ts';

/** How the changes of a lane are rendered and written to its readers. */
export type Delivery = {
  readonly renderAhead: RenderAhead;
  write(lane: Lane, rendered: readonly [Rendered, ...Rendered[]]): Written;
};

type Sources = Delivery & {
  readonly ring: Ring;
  readonly history: Pick<ChangeStream, 'follow'>;
  goLive(lane: Lane): void;
};

/** After this number of writes, the lane yields the event loop, and sockets take what was written to them. */
const WRITES_PER_TURN = 256;
/** The maximum for each reader. */
const BYTES_PER_TURN = 65_536;
/** The maximum that is taken from the ring at once. */
const PART_MAX = 200;

/** Writes the queue of a live lane. It waits for no reader, because that would delay the whole cohort. */
export const drainQueue = async (lane: Lane, { renderAhead, write }: Delivery): Promise<void> => {
  let [writes, bytes] = [0, 0];
  for await (const rendered of renderAhead(lane, () => lane.nextQueued()?.change)) {
    if (lane.seats.size === 0) return;
    const written = write(lane, rendered);
    writes += written.writes;
    bytes += written.bytes;
    if (writes < WRITES_PER_TURN && bytes < BYTES_PER_TURN) continue;
    [writes, bytes] = [0, 0];
    await nextTurn();
  }
};

/**
 * Advances a lane that is behind by one part. It waits for slow readers without holding a page: pages are
 * large, and slow readers many.
 */
export const catchUp = async (lane: Lane, sources: Sources): Promise<void> => {
  const { room } = await advance(lane, sources);
  await room;
};

/** If a reader does not take what it is sent, the promise to wait for. */
type Stopped = { readonly room: Promise<void> | undefined };
const NOT_STOPPED: Stopped = { room: undefined };

const advance = async (lane: Lane, sources: Sources): Promise<Stopped> => {
  const { ring } = sources;
  const part = ring.after(lane.delivered, PART_MAX);
  if (part === undefined) return readPast(lane, sources);
  const upTo = part.length === PART_MAX ? part[PART_MAX - 1]?.change.position : ring.upTo;
  const stopped = part.length > 0 ? await handOver(lane, part, sources) : NOT_STOPPED;
  if (stopped.room !== undefined || lane.seats.size === 0) return stopped;
  if (upTo !== undefined && upTo > lane.delivered) lane.delivered = upTo;
  // In the same turn as the look at the ring, or a change could be lost in between.
  if (part.length === 0) sources.goLive(lane);
  else await nextTurn();
  return NOT_STOPPED;
};

/** Waits for the readers, because the lane is behind. */
const handOver = async (
  lane: Lane,
  part: readonly IndexedChange[],
  { renderAhead, write }: Delivery,
): Promise<Stopped> => {
  const wanted = part.values().filter(({ topics }) => lane.isAbout(topics));
  for await (const rendered of renderAhead(lane, () => wanted.next().value?.change)) {
    const { room } = write(lane, rendered);
    if (room !== undefined && !(await isSoon(room))) return { room };
    if (lane.seats.size === 0) return NOT_STOPPED;
  }
  return NOT_STOPPED;
};

/** Reads from the log until the ring has the position of the lane. */
const readPast = async (
  lane: Lane,
  { ring, history, ...delivery }: Omit<Sources, 'goLive'>,
): Promise<Stopped> => {
  for await (const page of history.follow(lane.delivered, lane.left.signal)) {
    const part = page.changes.filter(({ position }) => position > lane.delivered).map(ring.index);
    const stopped = await handOver(lane, part, delivery);
    if (stopped.room !== undefined || lane.seats.size === 0) return stopped;
    if (page.upTo > lane.delivered) lane.delivered = page.upTo;
    if (ring.after(lane.delivered, 1) !== undefined) return NOT_STOPPED;
  }
  return NOT_STOPPED;
};

/** Waiting this long costs less than reading the same page again. */
const SOON_MS = 500;

const isSoon = async (room: Promise<void>): Promise<boolean> => {
  const over = new AbortController();
  const late = delay(SOON_MS, false, { signal: over.signal }).catch(() => false);
  const isRoom = await Promise.race([room.then(() => true), late]);
  over.abort();
  return isRoom;
};
