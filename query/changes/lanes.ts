// Over 200 lines, because it is one thing: the lanes that serve streams, and how one advances.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Log } from '#shared/log.ts';
import { catchUp, type Delivery, drainQueue } from './advance.ts';
import type { DeliverySpans } from './delivery-spans.ts';
import { BEHIND, Lane, type Messages, type Reader, type Seat } from './lane.ts';
import { createRenderAhead } from './render-ahead.ts';
import type { Renderings } from './renderings.ts';
import type { IndexedChange, Ring } from './ring.ts';
import type { Topic } from './topics.ts';

/** Which reader reads what, and the position of each. */
export type Lanes = {
  join(reader: Reader): Disposable;
  /** Delivers newly received changes to the lanes they concern. */
  receive(changes: readonly IndexedChange[]): void;
  /** Sends idle readers their position. */
  moveOn(): Promise<void>;
  /** Ends all calls to readers. */
  close(): void;
  count(): { readonly live: number; readonly catchingUp: number };
};

type LanesOptions = {
  readonly ring: Ring;
  readonly history: Pick<ChangeStream, 'follow'>;
  readonly renderings: Renderings;
  readonly log: Log;
  onSent(count: number): void;
  readonly deliverySpans?: DeliverySpans | undefined;
};

/** A live lane with a longer queue leaves the live ones, and returns once it has caught up. */
const QUEUE_MAX = 2_000;
/** After this number, the loop yields. */
const LANES_PER_TURN = 256;

/**
 * A lane is live or behind. A live lane has a queue, which an index of topics fills. A lane that is behind
 * reads for itself: from the ring, or from the log if the ring does not reach back so far. It becomes live in
 * the turn in which it has read everything received, so no change is lost in between. If its cohort has a
 * live lane, its readers move to that one; their positions skip what its queue still has from before. A
 * cohort that renders slowly delays only itself.
 */
export const createLanes = (options: LanesOptions): Lanes => {
  const { ring, renderings } = options;
  const lanes = new Set<Lane>();
  const live = createLiveLanes();

  const goLive = (lane: Lane): void => {
    const now = live.enter(lane);
    if (now === lane) return;
    lane.moveTo(now);
    lanes.delete(lane);
  };
  const close = (lane: Lane): void => {
    if (lane.state.at === 'live') live.leave(lane);
    lanes.delete(lane);
    lane.left.abort();
  };
  const run = createRunner(options, { goLive, close });
  const join = (reader: Reader): Seat => {
    const start = reader.after === 'now' ? ring.upTo : reader.after;
    const lane = new Lane(reader, start);
    const seat: Seat = { reader, position: start, lane };
    lane.add(seat);
    lanes.add(lane);
    if (start >= ring.upTo) goLive(lane);
    else void nextTurn().then(() => run(lane));
    return seat;
  };

  return {
    join(reader) {
      const seat = join(reader);
      const { position } = seat;
      // Unless a change has come first.
      const tellStart = () =>
        seat.lane.seats.has(seat) && seat.position === position && reader.moveOn(position);
      if (reader.after === 'now') queueMicrotask(tellStart);
      return {
        [Symbol.dispose]: () => {
          if (seat.lane.remove(seat) && seat.lane.seats.size === 0) close(seat.lane);
        },
      };
    },
    receive(changes) {
      for (const lane of enqueue(changes, live)) void run(lane);
    },
    async moveOn() {
      renderings.purge();
      await moveAllOn(lanes, ring);
    },
    close() {
      for (const lane of [...lanes]) {
        lane.seats.clear();
        close(lane);
      }
    },
    count() {
      const caughtUp = readersOf(live.all());
      return { live: caughtUp, catchingUp: readersOf(lanes) - caughtUp };
    },
  };
};

type Moves = { goLive(lane: Lane): void; close(lane: Lane): void };

/** Works on a lane until it has nothing left to do. An error fails all its readers and closes it. */
const createRunner = (
  { ring, history, renderings, log, onSent, deliverySpans }: LanesOptions,
  { goLive, close }: Moves,
): ((lane: Lane) => Promise<void>) => {
  const renderAhead = createRenderAhead((lane, change) => renderFor(lane, change, renderings));
  const write: Delivery['write'] = (lane, rendered) => {
    deliverySpans?.delivering(lane, rendered);
    const written = lane.write(rendered);
    if (written.sent > 0) onSent(written.sent);
    return written;
  };
  return async (lane) => {
    if (lane.isRunning) return;
    lane.isRunning = true;
    try {
      while (hasWork(lane)) {
        if (lane.state.at === 'live') await drainQueue(lane, { renderAhead, write });
        else await catchUp(lane, { ring, history, renderAhead, write, goLive });
      }
    } catch (error) {
      log.warn(
        { err: error, cohort: lane.cohort.key },
        'A change could not be delivered to its subscribers.',
      );
      const seats = [...lane.seats];
      lane.seats.clear();
      close(lane);
      for (const { reader } of seats) reader.fail(error);
    } finally {
      lane.isRunning = false;
    }
  };
};

const hasWork = ({ seats, state }: Lane): boolean =>
  seats.size > 0 && (state.at === 'behind' || state.queue.length > 0);

const moveAllOn = async (lanes: ReadonlySet<Lane>, ring: Ring): Promise<void> => {
  let visited = 0;
  for (const lane of lanes) {
    await lane.moveOn(lane.state.at === 'live' && !lane.isRunning ? ring.upTo : lane.delivered);
    visited += 1;
    if (visited % LANES_PER_TURN === 0) await nextTurn();
  }
};

/** The messages of a change: one for the whole lane, one for each reader whom it concerns. */
const renderFor = async (lane: Lane, change: Change, renderings: Renderings): Promise<Messages> => {
  const concerned = lane.concerned(change);
  const callers = [lane.stranger, ...concerned];
  const [message, ...own] = await Promise.all(
    callers.map((caller) => renderings.of(lane.cohort, change, caller)),
  );
  return { message, own: new Map(concerned.map(({ userId }, index) => [userId, own[index]])) };
};

/** Returns the lanes that have work now. */
const enqueue = (changes: readonly IndexedChange[], live: LiveLanes): ReadonlySet<Lane> => {
  const woken = new Set<Lane>();
  for (const change of changes) {
    for (const lane of live.about(change)) {
      if (lane.state.at !== 'live') continue;
      lane.state.queue.push(change);
      woken.add(lane);
      if (lane.state.queue.length > QUEUE_MAX) live.leave(lane);
    }
  }
  return woken;
};

const readersOf = (lanes: Iterable<Lane>): number =>
  [...lanes].reduce((sum, { seats }) => sum + seats.size, 0);

/** The lanes that have caught up, one per cohort, indexed by their topics. */
type LiveLanes = {
  /** Makes the lane live and returns it, or returns the lane of its cohort that is live already. */
  enter(lane: Lane): Lane;
  leave(lane: Lane): void;
  about(change: IndexedChange): Iterable<Lane>;
  all(): Iterable<Lane>;
};

const createLiveLanes = (): LiveLanes => {
  const lanes = new Map<string, Lane>();
  const index = new Map<Topic, Set<Lane>>();
  return {
    enter(lane) {
      const known = lanes.get(lane.cohort.key);
      if (known !== undefined) return known;
      lane.state = { at: 'live', queue: [] };
      lanes.set(lane.cohort.key, lane);
      for (const topic of lane.cohort.topics) {
        const others = index.get(topic);
        if (others === undefined) index.set(topic, new Set([lane]));
        else others.add(lane);
      }
      return lane;
    },
    leave(lane) {
      lane.state = BEHIND;
      lanes.delete(lane.cohort.key);
      for (const topic of lane.cohort.topics) {
        const others = index.get(topic);
        others?.delete(lane);
        if (others?.size === 0) index.delete(topic);
      }
    },
    // Several topics of one change may lead to the same lane.
    about: ({ topics }) => new Set(topics.flatMap((topic) => [...(index.get(topic) ?? [])])),
    all: () => lanes.values(),
  };
};
