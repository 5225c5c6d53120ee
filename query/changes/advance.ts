import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Lane, Written } from './lane.ts';
import type { RenderAhead, Rendered } from './render-ahead.ts';
import type { Heard, Ring } from './ring.ts';
import { topicsOf } from './topics.ts';

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

/** A live lane: what has come into its queue. It waits for nobody, because that would hold up all others of the cohort. */
export const workOff = async (lane: Lane, { renderAhead, write }: Delivery): Promise<void> => {
  let [writes, bytes] = [0, 0];
  for await (const rendered of renderAhead(lane, () => lane.queue.shift()?.change)) {
    if (lane.seats.size === 0) return;
    const written = write(lane, rendered);
    writes += written.writes;
    bytes += written.bytes;
    if (writes < WRITES_PER_TURN && bytes < BYTES_PER_TURN) continue;
    [writes, bytes] = [0, 0];
    await nextTurn();
  }
};

/** A lane that is behind: one part of what it lacks. */
export const catchUp = async (lane: Lane, sources: Sources): Promise<void> => {
  const { ring } = sources;
  const part = ring.after(lane.delivered, PART_MAX);
  if (part === undefined) return readPast(lane, sources);
  const upTo = part.length === PART_MAX ? part[PART_MAX - 1]?.change.position : ring.upTo;
  if (part.length > 0) await handOver(lane, part, sources);
  if (lane.seats.size === 0) return;
  if (upTo !== undefined && upTo > lane.delivered) lane.delivered = upTo;
  // In the same turn as the look at what was heard, or a change could come in between.
  if (part.length === 0) return sources.goLive(lane);
  await nextTurn();
};

/** Waits for its readers, as long as it is behind. */
const handOver = async (lane: Lane, part: readonly Heard[], { renderAhead, write }: Delivery): Promise<void> => {
  const wanted = part.values().filter(({ topics }) => lane.isAbout(topics));
  for await (const rendered of renderAhead(lane, () => wanted.next().value?.change)) {
    await write(lane, rendered).room;
    if (lane.seats.size === 0) return;
  }
};

/** Reads until the ring goes back as far as the lane is. */
const readPast = async (lane: Lane, { ring, history, ...delivery }: Omit<Sources, 'goLive'>): Promise<void> => {
  for await (const page of history.follow(lane.delivered, lane.left.signal)) {
    const part = page.changes
      .filter(({ position }) => position > lane.delivered)
      .map((change): Heard => ({ change, topics: topicsOf(change) }));
    await handOver(lane, part, delivery);
    if (lane.seats.size === 0) return;
    if (page.upTo > lane.delivered) lane.delivered = page.upTo;
    if (ring.after(lane.delivered, 1) !== undefined) return;
  }
};
