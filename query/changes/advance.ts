import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Lane, Rendered, Written } from './lane.ts';
import type { RenderAhead } from './render-ahead.ts';
import type { Heard, Ring } from './ring.ts';

/** How what a lane is to hear gets from being rendered to its readers. */
export type Delivery = {
  readonly renderAhead: RenderAhead;
  write(lane: Lane, rendered: readonly [Rendered, ...Rendered[]]): Written;
};

type Sources = Delivery & {
  readonly ring: Ring;
  readonly history: Pick<ChangeStream, 'follow'>;
  goLive(lane: Lane): void;
};

/** After so many writes, others get their turn, and connections take what was written to them. */
const WRITES_PER_TURN = 256;
/** To each of them at most. */
const BYTES_PER_TURN = 65_536;
/** As many changes are taken from the ring at once. */
const PART_MAX = 200;

/**
 * A live lane: what has come into its queue. It waits for nobody, because that would hold up all others of
 * the cohort.
 */
export const workOff = async (lane: Lane, { renderAhead, write }: Delivery): Promise<void> => {
  let [writes, bytes] = [0, 0];
  for await (const rendered of renderAhead(lane, () => lane.takeUp()?.change)) {
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
 * A lane that is behind: one part of what it lacks. Who is slow is waited for with nothing in hand: pages are
 * large, and such readers many.
 */
export const catchUp = async (lane: Lane, sources: Sources): Promise<void> => {
  const { room } = await advance(lane, sources);
  await room;
};

/** Where a reader does not take what it is sent, what is to be waited for. */
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
  // In the same turn as the look at what was heard, or a change could come in between.
  if (part.length === 0) sources.goLive(lane);
  else await nextTurn();
  return NOT_STOPPED;
};

/** Waits for its readers, as long as it is behind. */
const handOver = async (
  lane: Lane,
  part: readonly Heard[],
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

/** Reads until the ring goes back as far as the lane is. */
const readPast = async (
  lane: Lane,
  { ring, history, ...delivery }: Omit<Sources, 'goLive'>,
): Promise<Stopped> => {
  for await (const page of history.follow(lane.delivered, lane.left.signal)) {
    const part = page.changes.filter(({ position }) => position > lane.delivered).map(ring.hear);
    const stopped = await handOver(lane, part, delivery);
    if (stopped.room !== undefined || lane.seats.size === 0) return stopped;
    if (page.upTo > lane.delivered) lane.delivered = page.upTo;
    if (ring.after(lane.delivered, 1) !== undefined) return NOT_STOPPED;
  }
  return NOT_STOPPED;
};

/** Less than it costs to read the same page again. */
const SOON_MS = 500;

const isSoon = async (room: Promise<void>): Promise<boolean> => {
  const over = new AbortController();
  const late = delay(SOON_MS, false, { signal: over.signal }).catch(() => false);
  const isRoom = await Promise.race([room.then(() => true), late]);
  over.abort();
  return isRoom;
};
