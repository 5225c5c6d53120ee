import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Facts } from '#kernel/conditions/facts.ts';
import type { Position, UserId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import { userOf } from '#shared/visibility/visible-origin.ts';
import { type Cohort, strangerLike } from './renderings.ts';
import type { Heard } from './ring.ts';
import type { Topic } from './topics.ts';

export type Rendered = { readonly change: Change; readonly messages: Messages };

/** The message for all, and for each of those whom the change concerns. */
export type Messages = {
  readonly message: Buffer | undefined;
  readonly own: ReadonlyMap<UserId, Buffer | undefined>;
};

export type Reader = {
  readonly cohort: Cohort;
  readonly caller: Caller;
  /** The last position that the reader has; `now` means whatever this process has heard of so far. */
  readonly after: Position | 'now';
  /**
   * Takes the message of the change at a position. A promise asks to wait until there is room: heeded while
   * catching up.
   */
  send(message: Buffer, position: Position): Promise<void> | undefined;
  /**
   * Whether messages that are ready together may come one behind the other in one buffer, at the position of
   * the last.
   */
  readonly takesSeveral?: boolean;
  /**
   * There was nothing for the reader up to a position, from which it may now go on. Called at first for
   * `now`, then now and then.
   */
  moveOn(position: Position): void;
  /**
   * The last call: what comes next cannot be had. The reader may join again after the last position it has.
   */
  fail(error: unknown): void;
};

/**
 * A reader's place. It has everything that concerns it up to a position, so that a change is never handed
 * over twice.
 */
export type Seat = { readonly reader: Reader; position: Position; lane: Lane };

export type User = Extract<Caller, { kind: 'user' }>;

/**
 * How many messages, in how many writes, how much to each reader at most, and the room to wait for where one
 * reader is alone.
 */
export type Written = {
  readonly sent: number;
  readonly writes: number;
  readonly bytes: number;
  readonly room: Promise<void> | undefined;
};

/** A lane that is behind reads for itself; a live one has a queue of what waits to be rendered. */
export type LaneState = { readonly at: 'behind' } | { readonly at: 'live'; readonly queue: Heard[] };
export const BEHIND: LaneState = { at: 'behind' };

/** After so many, others get their turn. */
const TOLD_PER_TURN = 256;

/** Readers of one cohort who go on together: what is rendered for one is written to all. */
export class Lane {
  readonly cohort: Cohort;
  /** One of theirs who owns nothing. */
  readonly stranger: Caller;
  readonly seats = new Set<Seat>();
  /** Aborted once nobody is left. */
  readonly left = new AbortController();
  state: LaneState = BEHIND;
  isRunning = false;
  /** All seats have what concerns them up to here. */
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

  /** The next that waits, unless the lane has fallen behind meanwhile. */
  takeUp(): Heard | undefined {
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

  /** Answers whether the seat was here. */
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
   * From now on the readers are another lane's, which does not know that they have not been told how far they
   * are.
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

  /**
   * Those of its readers whom a change concerns: any number that rights to it depend on may be the id of a
   * user.
   */
  concerned({ resource, former, origin }: Change): readonly User[] {
    const actor = origin ? userOf(origin.actor) : undefined;
    const ids = new Set([...numbersIn(resource), ...numbersIn(former ?? {}), actor]);
    return [...ids]
      .map((id) => this.#users.get(id as UserId)?.caller)
      .filter((caller) => caller !== undefined);
  }

  /** Says how far the readers are, who have everything up to there, to those who have long had nothing. */
  async moveOn(position: Position): Promise<void> {
    this.delivered = position;
    let told = 0;
    for (const seat of this.seats) {
      if (seat.position >= position) continue;
      seat.position = position;
      seat.reader.moveOn(position);
      told += 1;
      if (told % TOLD_PER_TURN === 0) await nextTurn();
    }
  }

  /** How many of them are about to be told of it. */
  readersOf(rendered: Rendered): number {
    const message = messageOf(rendered);
    return [...this.seats].filter(
      (seat) => seat.position < message.first && bytesFor(seat.reader, message) !== undefined,
    ).length;
  }

  /**
   * What is ready together, in its order. The innermost loop of all: for nearly every reader a comparison and
   * a write.
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

/** Those of items too. */
const numbersIn = (facts: Facts): readonly unknown[] =>
  Object.values(facts).flatMap((fact) =>
    Array.isArray(fact) ? fact.flatMap((item: object) => Object.values(item)) : [fact],
  );

/** What is written at once: of one change, or of several. */
type Message = Messages & { readonly first: Position; readonly last: Position; readonly count: number };

const messageOf = ({ change: { position }, messages }: Rendered): Message => ({
  ...messages,
  first: position,
  last: position,
  count: 1,
});

/** All of them as one, which is for those whom none of them concerns. */
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
