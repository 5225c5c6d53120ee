import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Lane, Written } from './lane.ts';
import type { Ring } from './ring.ts';
import { topicsOf } from './topics.ts';

/** Renders a change and writes it to the readers of a lane. */
export type Deliver = (lane: Lane, change: Change) => Promise<Written>;

type Sources = {
  readonly ring: Ring;
  readonly history: Pick<ChangeStream, 'follow'>;
  readonly deliver: Deliver;
  goLive(lane: Lane): void;
};

/** After so many writes, others get their turn, and connections take what was written to them. */
const WRITES_PER_TURN = 256;
/** To each of them at most. */
const BYTES_PER_TURN = 65_536;
/** As many changes are taken from the ring at once. */
const PART_MAX = 200;

/** A live lane: what has come into its queue. It waits for nobody, because that would hold up all others of the cohort. */
export const workOff = async (lane: Lane, deliver: Deliver): Promise<void> => {
  let [writes, bytes] = [0, 0];
  for (let heard = lane.queue.shift(); heard !== undefined && lane.seats.size > 0; heard = lane.queue.shift()) {
    const written = await deliver(lane, heard.change);
    lane.delivered = heard.change.position;
    writes += written.sent;
    bytes += written.bytes;
    if (writes < WRITES_PER_TURN && bytes < BYTES_PER_TURN) continue;
    [writes, bytes] = [0, 0];
    await nextTurn();
  }
};

/** A lane that is behind: one part of what it lacks. */
export const catchUp = async (lane: Lane, { ring, history, deliver, goLive }: Sources): Promise<void> => {
  const part = ring.after(lane.delivered, PART_MAX);
  if (part === undefined) return readPast(lane, { ring, history, deliver });
  const upTo = part.length === PART_MAX ? undefined : ring.upTo;
  for (const { change, topics } of part) {
    if (lane.isAbout(topics)) await await deliver(lane, change);
    if (lane.seats.size === 0) return;
    lane.delivered = change.position;
  }
  if (upTo !== undefined && upTo > lane.delivered) lane.delivered = upTo;
  // In the same turn as the look at what was heard, or a change could come in between.
  if (part.length === 0) return goLive(lane);
  await nextTurn();
};

/** Reads until the ring goes back as far as the lane is. */
const readPast = async (lane: Lane, { ring, history, deliver }: Omit<Sources, 'goLive'>): Promise<void> => {
  for await (const page of history.follow(lane.delivered, lane.left.signal)) {
    for (const change of page.changes) {
      if (change.position <= lane.delivered) continue;
      if (lane.isAbout(topicsOf(change))) await await deliver(lane, change);
      if (lane.seats.size === 0) return;
      lane.delivered = change.position;
    }
    if (page.upTo > lane.delivered) lane.delivered = page.upTo;
    if (ring.after(lane.delivered, 1) !== undefined) return;
  }
};
