// Over 200 lines, because it is one thing: which turns share a transaction, and what becomes of each if it fails.
import { oncePer } from '#kernel/base/once-per.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { isSilence } from '#shared/database/failures.ts';
import { inJointTransaction } from '#shared/database/joint.ts';
import type { Statement } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { isLost, LostCheckpoint, type Move, moveCheckpointAlone, movingCheckpoint } from './checkpoint.ts';
import { moveCheckpointsAlone, movingCheckpoints } from './move-together.ts';

/** The writes of one follower for a page, in the transaction that moves its checkpoint. */
export type Turn = {
  readonly follower: string;
  /** Asked at the beginning of each attempt: from the checkpoint as it is then, to a position that stays. */
  move(): Move;
  /** Readers must never see a write that a crash then undoes, so the commit waits for the disk. */
  readonly isLasting?: boolean;
  /** The follower shares no transaction: others would wait for its many events, or it has no checkpoint to move yet. */
  readonly isAlone?: boolean;
  /**
   * Others write on the connection at the same time. If their transaction fails, it is called again in one of
   * its own.
   */
  write?(connection: Connection): Promise<void>;
  /** Called at once after the commit. */
  committed(): void;
};

type Waiting = {
  readonly key: object;
  turn: Turn;
  dueAtMs: number;
  readonly done: PromiseWithResolvers<void>;
};

/** For how long turns wait for a shared transaction; longer, and each gets its own. */
const WAIT_MAX_MS = 250;
/** A follower that takes longer than this, and much longer than others, gets transactions of its own. */
const SLOW_MS = 100;
/** For how long it gets them, unless it takes less before. */
const SLOW_FOR_MS = 60_000;
/** How often it is found out which follower makes a shared transaction slow. */
const SUSPECT_EVERY_MS = 5_000;
/** So much longer than the quickest takes the one that makes the others slow. */
const TIMES_SLOWER = 2;

/**
 * The followers of a process write together: whatever is due when a transaction begins shares it, because a
 * transaction costs the same for one as for all. If it fails, each turn gets its own, so that a follower that
 * fails, waits for a lock, or has much to write never stops another. Which process a follower runs in, and up
 * to where it has written, remains a matter of its own lease and checkpoint.
 */
export class Pass {
  readonly #pool: Pool;
  readonly #limits: { readonly waitMaxMs: number; readonly slowMs: number };
  readonly #waiting = new Map<object, Waiting>();
  readonly #running = new Map<object, Waiting>();
  /** Followers with transactions of their own: until one succeeds, and until a time. */
  readonly #failing = new Set<string>();
  readonly #slow = new Map<string, number>();
  /** Followers of a slow transaction, with the time that each takes alone once that is known. */
  #suspects: ReadonlyMap<string, number | undefined> = new Map();
  #suspectedAtMs = Number.NEGATIVE_INFINITY;
  #sharedSinceMs: number | undefined;
  #wake: { readonly atMs: number; readonly timer: Disposable } | undefined;

  constructor(pool: Pool, { waitMaxMs = WAIT_MAX_MS, slowMs = SLOW_MS } = {}) {
    this.#pool = pool;
    this.#limits = { waitMaxMs, slowMs };
  }

  /**
   * Resolves after the commit, which begins within this time, or earlier with others. The key stands for the
   * follower: a turn that still waits is replaced by its next one.
   */
  write(key: object, turn: Turn, withinMs: number): Promise<void> {
    const dueAtMs = REAL_TIME.elapsedMs() + withinMs;
    const waiting = this.#waiting.get(key);
    if (waiting) Object.assign(waiting, { turn, dueAtMs: Math.min(waiting.dueAtMs, dueAtMs) });
    else this.#waiting.set(key, { key, turn, dueAtMs, done: Promise.withResolvers<void>() });
    this.#schedule();
    return (this.#waiting.get(key) as Waiting).done.promise;
  }

  /** Nothing of this follower is written from then on. */
  async leave(key: object): Promise<void> {
    this.#waiting.get(key)?.done.resolve();
    this.#waiting.delete(key);
    await this.#running.get(key)?.done.promise.catch(() => {});
  }

  #schedule(): void {
    const dueAtMs = Math.min(...this.#free().map((each) => each.dueAtMs));
    const atMs =
      this.#sharedSinceMs === undefined
        ? dueAtMs
        : Math.max(dueAtMs, this.#sharedSinceMs + this.#limits.waitMaxMs);
    if (this.#wake?.atMs === atMs) return;
    this.#wake?.timer[Symbol.dispose]();
    this.#wake =
      atMs === Number.POSITIVE_INFINITY ? undefined : { atMs, timer: wakeAt(atMs, () => this.#go()) };
  }

  /** A follower has one transaction at a time. */
  #free(): readonly Waiting[] {
    return [...this.#waiting.values()].filter(({ key }) => !this.#running.has(key));
  }

  #go(): void {
    this.#wake = undefined;
    const nowMs = REAL_TIME.elapsedMs();
    const mustBeAlone = ({ turn }: Waiting): boolean =>
      turn.isAlone === true ||
      this.#failing.has(turn.follower) ||
      (this.#slow.get(turn.follower) ?? nowMs) > nowMs ||
      this.#isSuspect(turn.follower);
    const free = this.#free();
    const isLate = this.#sharedSinceMs !== undefined;
    const alone = free.filter((each) => each.dueAtMs <= nowMs && (isLate || mustBeAlone(each)));
    const together = isLate ? [] : free.filter((each) => !mustBeAlone(each));
    for (const each of alone) void this.#writeAlone(this.#begin(each));
    if (together.some(({ dueAtMs }) => dueAtMs <= nowMs)) {
      this.#sharedSinceMs = nowMs;
      void this.#writeTogether(together.map((each) => this.#begin(each)));
    }
    this.#schedule();
  }

  #begin(each: Waiting): Waiting {
    this.#waiting.delete(each.key);
    this.#running.set(each.key, each);
    return each;
  }

  #end({ key, done }: Waiting, failure?: { readonly error: unknown }): void {
    this.#running.delete(key);
    if (failure) done.reject(failure.error);
    else done.resolve();
    this.#schedule();
  }

  async #writeAlone(each: Waiting): Promise<void> {
    const { follower } = each.turn;
    try {
      const tookMs = await writeAlone(this.#pool, each.turn);
      this.#failing.delete(follower);
      if (tookMs <= this.#limits.slowMs) this.#slow.delete(follower);
      this.#judge(follower, tookMs);
    } catch (error) {
      this.#failing.add(follower);
      return this.#end(each, { error });
    }
    this.#committed(each);
  }

  async #writeTogether(all: readonly Waiting[]): Promise<void> {
    let done: readonly Waiting[] = [];
    try {
      done = await this.#share(all);
    } catch (error) {
      // A second attempt would wait for a silent server as long again.
      if (isSilence(error)) for (const each of all) this.#end(each, { error });
    }
    for (const each of done) this.#committed(each);
    this.#sharedSinceMs = undefined;
    // Nobody waits for these: each may take long by itself.
    for (const each of all) if (this.#running.get(each.key) === each) void this.#writeAlone(each);
    this.#schedule();
  }

  #committed(each: Waiting): void {
    try {
      each.turn.committed();
      this.#end(each);
    } catch (error) {
      this.#end(each, { error });
    }
  }

  /** Returns those that are done: with writes all of them, without any all whose checkpoint nobody holds. */
  async #share(all: readonly Waiting[]): Promise<readonly Waiting[]> {
    const turns = new Map(all.map((each) => [moveOf(each.turn), each]));
    const moves = [...turns.keys()];
    if (all.every(({ turn }) => turn.write === undefined && !turn.isLasting))
      return (await moveCheckpointsAlone(this.#pool, moves)).flatMap((move) => turns.get(move) ?? []);
    const settings = sharedSettings(
      all.some(({ turn }) => turn.isLasting),
      this.#limits.waitMaxMs,
    );
    // The checkpoints come first, so that nothing is written where another process has taken over.
    const tookMs = await inJointTransaction(
      this.#pool,
      [settings, movingCheckpoints(moves)],
      all.flatMap(({ turn }) => turn.write ?? []),
      { isShared: true },
    );
    this.#suspect(all, tookMs);
    return all;
  }

  /** The follower that makes a transaction slow shows when each has its own. */
  #suspect(all: readonly Waiting[], tookMs: number): void {
    const nowMs = REAL_TIME.elapsedMs();
    const writing = all.filter(({ turn }) => turn.write !== undefined);
    if (writing.length < 2 || tookMs <= this.#limits.slowMs) return;
    if (nowMs - this.#suspectedAtMs < SUSPECT_EVERY_MS) return;
    this.#suspectedAtMs = nowMs;
    this.#suspects = new Map(writing.map(({ turn }) => [turn.follower, undefined]));
  }

  #isSuspect(follower: string): boolean {
    return this.#suspects.has(follower) && this.#suspects.get(follower) === undefined;
  }

  /** If all take about as long, none of them is slow: the server is, or the way to it. */
  #judge(follower: string, tookMs: number): void {
    if (!this.#isSuspect(follower)) return;
    this.#suspects = new Map(this.#suspects).set(follower, tookMs);
    const times = [...this.#suspects.values()];
    if (!times.every((time) => time !== undefined)) return;
    const slowMs = Math.max(this.#limits.slowMs, TIMES_SLOWER * Math.min(...times));
    const untilMs = REAL_TIME.elapsedMs() + SLOW_FOR_MS;
    for (const [each, time = 0] of this.#suspects) if (time > slowMs) this.#slow.set(each, untilMs);
    this.#suspects = new Map();
  }
}

const moveOf = (turn: Turn) => ({ follower: turn.follower, ...turn.move() });

/** The followers of a process use one pool. */
export const passOf = oncePer((pool: Pool) => new Pass(pool));

/** A leader that is paused in a transaction must not keep its successor waiting for the checkpoint’s row. */
const PAUSE_MAX_MS = 3_000;
export const LASTING = `set local idle_in_transaction_session_timeout = ${PAUSE_MAX_MS}`;
const LIMIT_PAUSE = `set_config('idle_in_transaction_session_timeout', '${PAUSE_MAX_MS}', true)`;
const LASTING_SETTINGS: Statement = { name: 'follower-lasting', text: `select ${LIMIT_PAUSE}` };
/**
 * A commit that waits for the disk later loses nothing: after a crash the checkpoint matches the rows, and
 * the log has the rest.
 */
const PASSING_SETTINGS: Statement = {
  name: 'follower-passing',
  text: `select ${LIMIT_PAUSE}, set_config('synchronous_commit', 'off', true)`,
};

/** A shared transaction that waits for a lock fails soon, and only the follower that needs the lock waits. */
const sharedSettings = (isLasting: boolean, lockWithinMs: number): Statement => {
  const { name, text } = isLasting ? LASTING_SETTINGS : PASSING_SETTINGS;
  return {
    name: `${name}-shared`,
    text: `${text}, set_config('lock_timeout', $1, true)`,
    values: [String(lockWithinMs)],
  };
};

/** Returns how long it took, in milliseconds. */
const writeAlone = async (pool: Pool, turn: Turn): Promise<number> => {
  const { follower, isLasting = false, write } = turn;
  const move = turn.move();
  if (write || isLasting) {
    const settings = isLasting ? LASTING_SETTINGS : PASSING_SETTINGS;
    const first = [settings, movingCheckpoint(follower, move)];
    return inJointTransaction(pool, first, write ? [write] : [], { isShared: false }).catch((error) => {
      throw isLost(error) ? new LostCheckpoint(follower) : error;
    });
  }
  await moveCheckpointAlone(pool, follower, move);
  return 0;
};

/** At the earliest at the end of this turn of the event loop, so that those who come in it share. */
const wakeAt = (atMs: number, work: () => void): Disposable => {
  const waitMs = atMs - REAL_TIME.elapsedMs();
  if (waitMs > 0) return REAL_TIME.after(waitMs, work);
  const immediate = setImmediate(work);
  return { [Symbol.dispose]: () => clearImmediate(immediate) };
};
