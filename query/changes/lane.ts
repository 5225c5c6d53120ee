import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position, UserId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import type { Cohort, Reader } from './feed.ts';
import { strangerLike } from './renderings.ts';
import type { Heard } from './ring.ts';
import type { Topic } from './topics.ts';

/** A reader's place. It has everything that concerns it up to a position, so that a change is never handed over twice. */
export type Seat = { readonly reader: Reader; position: Position; lane: Lane };

export type User = Extract<Caller, { kind: 'user' }>;

/** The message for all, and for each of those whom the change concerns. */
type Messages = { readonly message: Buffer | undefined; readonly own: ReadonlyMap<UserId, Buffer | undefined> };

/** To how many, how much to each at most, and the room to wait for where one reader is alone. */
export type Written = { readonly sent: number; readonly bytes: number; readonly room: Promise<void> | undefined };

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
  /** What waits to be rendered, where the lane is live. */
  queue: Heard[] = [];
  isLive = false;
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

  /** From now on the readers are another lane's. */
  moveTo(other: Lane): void {
    for (const seat of this.seats) {
      if (seat.position < this.delivered) seat.position = this.delivered;
      this.remove(seat);
      other.add(seat);
    }
  }

  /** Those of its readers whom a change concerns. */
  concerned({ resource: { ownerId, articleAuthorId } }: Change): readonly User[] {
    const ids = new Set([ownerId, articleAuthorId].filter((id) => id !== undefined));
    return [...ids].map((id) => this.#users.get(id)?.caller).filter((caller) => caller !== undefined);
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

  /** The innermost loop of all: for one reader and message a comparison and a write. */
  write(position: Position, { message, own }: Messages): Written {
    let sent = 0;
    let bytes = 0;
    let room: Promise<void> | undefined;
    for (const seat of this.seats) {
      if (seat.position >= position) continue;
      const theirs = own.size === 0 ? message : messageFor(seat.reader, { message, own });
      if (theirs === undefined) continue;
      seat.position = position;
      room = seat.reader.send(theirs, position);
      sent += 1;
      if (theirs.length > bytes) bytes = theirs.length;
    }
    return { sent, bytes, room: this.seats.size === 1 ? room : undefined };
  }
}

const messageFor = ({ caller }: Reader, { message, own }: Messages): Buffer | undefined =>
  caller.kind === 'user' && own.has(caller.userId) ? own.get(caller.userId) : message;
