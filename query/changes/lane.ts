// Over 200 lines, because it is one thing: the readers of a cohort at one position, and what is written to
// them.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position, UserId } from '#kernel/base/brands.ts';
import type { Facts } from '#kernel/conditions/facts.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { userOf } from '#shared/visibility/visible-origin.ts';
import { type Cohort, strangerLike } from './renderings.ts';
import type { IndexedChange } from './ring.ts';
import type { Topic } from './topics.ts';

export type Rendered = { readonly change: Change; readonly messages: Messages };

/** The message for all readers, and the one for each user whom the change concerns. */
export type Messages = {
  readonly message: Buffer | undefined;
  readonly own: ReadonlyMap<UserId, Buffer | undefined>;
};

export type Reader = {
  readonly cohort: Cohort;
  readonly caller: Caller;
  /** The last position that the reader has; `now` means everything this process has received so far. */
  readonly after: Position | 'now';
  /**
   * Takes the message of the change at a position. A promise asks to wait until there is room; only a lane
   * that catches up waits.
   */
  send(message: Buffer, position: Position): Promise<void> | undefined;
  /**
   * True if messages that are ready together may be concatenated into one buffer, at the position of the
   * last.
   */
  readonly takesSeveral?: boolean;
  /**
   * There was nothing for the reader up to this position; it may resume after it. Called first for `now`,
   * then at intervals.
   */
  moveOn(position: Position): void;
  /**
   * The last call: the changes from here on cannot be delivered. The reader may join again after the last
   * position it has.
   */
  fail(error: unknown): void;
};

/**
 * A reader and its position. It has every change up to there that it may see, so no change is delivered
 * twice.
 */
export type Seat = { readonly reader: Reader; position: Position; lane: Lane };

type User = Extract<Caller, { kind: 'user' }>;

/**
 * The messages and the writes, the maximum of bytes to one reader, and the room to wait for if the lane has
 * one reader.
 */
export type Written = {
  readonly sent: number;
  readonly writes: number;
  readonly bytes: number;
  readonly room: Promise<void> | undefined;
};

/** A lane that is behind reads for itself; a live one has a queue of changes to render. */
type LaneState = { readonly at: 'behind' } | { readonly at: 'live'; readonly queue: IndexedChange[] };
export const BEHIND: LaneState = { at: 'behind' };

/** After this number, the loop yields. */
const NOTIFIED_PER_TURN = 256;

/** Readers of one cohort at the same position: what is rendered for one is written to all. */
export class Lane {
  readonly cohort: Cohort;
  /** A caller of this cohort who owns nothing. */
  readonly stranger: Caller;
  readonly seats = new Set<Seat>();
  /** Aborted when the last reader has left. */
  readonly left = new AbortController();
  state: LaneState = BEHIND;
  isRunning = false;
  /** All seats have every change up to this position. */
  delivered: Position;
  readonly #users = new Map<UserId, { readonly caller: User; seats: number }>();
  readonly #topics: ReadonlySet<Topic>;

  constructor({ cohort, caller }: Pick<Reader, 'cohort' | 'caller'>, start: Position) {
    this.cohort = cohort;
    this.stranger = strangerLike(caller);
    this.delivered = start;
    this.#topics = new Set(cohort.topics);
  }

  isAbout(topics: readonly Topic[]): boolean {
    return topics.some((topic) => this.#topics.has(topic));
  }

  /** The next change in the queue; none if the lane has fallen behind meanwhile. */
  nextQueued(): IndexedChange | undefined {
    return this.state.at === 'live' ? this.state.queue.shift() : undefined;
  }

  add(seat: Seat): void {
    seat.lane = this;
    this.seats.add(seat);
    const { caller } = seat.reader;
    if (caller.kind !== 'user') return;
    const user = this.#users.get(caller.userId);
    if (user === undefined) this.#users.set(caller.userId, { caller, seats: 1 });
    else user.seats += 1;
  }

  /** Returns whether the seat was here. */
  remove(seat: Seat): boolean {
    if (!this.seats.delete(seat)) return false;
    const { caller } = seat.reader;
    const user = caller.kind === 'user' ? this.#users.get(caller.userId) : undefined;
    if (user === undefined) return true;
    user.seats -= 1;
    if (user.seats === 0) this.#users.delete(user.caller.userId);
    return true;
  }

  /**
   * Moves the readers to another lane. That one does not know their position in this lane, so it is done
   * here.
   */
  moveTo(other: Lane): void {
    for (const seat of this.seats) {
      this.remove(seat);
      other.add(seat);
      if (seat.position >= this.delivered) continue;
      seat.position = this.delivered;
      seat.reader.moveOn(this.delivered);
    }
  }

  /** The readers whom a change concerns: any number that rights to it depend on may be the id of a user. */
  concerned({ resource, former, origin }: Change): readonly User[] {
    const actor = origin ? userOf(origin.actor) : undefined;
    const ids = new Set([...numbersIn(resource), ...numbersIn(former ?? {}), actor]);
    return [...ids]
      .map((id) => this.#users.get(id as UserId)?.caller)
      .filter((caller) => caller !== undefined);
  }

  /** Notifies idle readers that they have everything up to this position. */
  async moveOn(position: Position): Promise<void> {
    this.delivered = position;
    let notified = 0;
    for (const seat of this.seats) {
      if (seat.position >= position) continue;
      seat.position = position;
      seat.reader.moveOn(position);
      notified += 1;
      if (notified % NOTIFIED_PER_TURN === 0) await nextTurn();
    }
  }

  /** The number of readers that are about to receive it. */
  readersOf(rendered: Rendered): number {
    const message = messageOf(rendered);
    return [...this.seats].filter(
      (seat) => seat.position < message.first && bytesFor(seat.reader, message) !== undefined,
    ).length;
  }

  /**
   * Writes messages that are ready together, in order. This is the innermost loop: a comparison and a write
   * for nearly every reader.
   */
  write(rendered: readonly [Rendered, ...Rendered[]]): Written {
    const each = rendered.map(messageOf);
    const together = join(each);
    let [sent, writes, bytes] = [0, 0, 0];
    let room: Promise<void> | undefined;
    for (const seat of this.seats) {
      let theirBytes = 0;
      for (const message of together !== undefined && canHave(together, seat) ? [together] : each) {
        const own = seat.position < message.first ? bytesFor(seat.reader, message) : undefined;
        if (own === undefined) continue;
        seat.position = message.last;
        room = seat.reader.send(own, message.last);
        sent += message.count;
        writes += 1;
        theirBytes += own.length;
      }
      if (theirBytes > bytes) bytes = theirBytes;
    }
    this.delivered = rendered.at(-1)?.change.position ?? this.delivered;
    return { sent, writes, bytes, room: this.seats.size === 1 ? room : undefined };
  }
}

/** Includes the numbers in items. */
const numbersIn = (facts: Facts): readonly unknown[] =>
  Object.values(facts).flatMap((fact) =>
    Array.isArray(fact) ? fact.flatMap((item: object) => Object.values(item)) : [fact],
  );

/** A message that is written at once: of one change, or of several. */
type Message = Messages & { readonly first: Position; readonly last: Position; readonly count: number };

const messageOf = ({ change: { position }, messages }: Rendered): Message => ({
  ...messages,
  first: position,
  last: position,
  count: 1,
});

/** All messages as one, for readers whom none of them concerns. */
const join = (each: readonly Message[]): Message | undefined => {
  const parts = each.filter(({ message }) => message !== undefined);
  const [first, last] = [each.at(0), parts.at(-1)];
  if (each.length === 1 || first === undefined || last === undefined) return undefined;
  return {
    ...{ first: first.first, last: last.last, count: parts.length },
    message: Buffer.concat(parts.flatMap(({ message }) => message ?? [])),
    own: new Map(each.flatMap(({ own }) => [...own])),
  };
};

const canHave = (joined: Message, { reader, position }: Seat): boolean =>
  reader.takesSeveral === true && position < joined.first && !concerns(joined, reader);

const concerns = ({ own }: Message, { caller }: Reader): boolean =>
  own.size > 0 && caller.kind === 'user' && own.has(caller.userId);

const bytesFor = (reader: Reader, message: Message): Buffer | undefined => {
  const { caller } = reader;
  return caller.kind === 'user' && concerns(message, reader)
    ? message.own.get(caller.userId)
    : message.message;
};
