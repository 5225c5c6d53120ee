// Over 200 lines, because it is one thing: which turns share a transaction, and what becomes of each if it fails.
import { oncePer } from '#kernel/base/once-per.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { isSilence } from '#shared/database/failures.ts';
import type { Answer, Statement } from '#shared/database/pipeline.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransactionAfter } from '#shared/database/transaction.ts';
import { demandMoved, type Move, moveCheckpointAlone, movingCheckpoint } from './checkpoint.ts';
import { type MoveOf, moveCheckpointsAlone, movedOf, movingCheckpoints } from './move-together.ts';

/** The writes of one follower for a page, in the transaction that moves its checkpoint. */
export type Turn = {
  readonly follower: string;
  /** Asked at the beginning of each attempt: from the checkpoint as it is then, to a position that stays. */
  move(): Move;
  /** Readers must never see a write that a crash then undoes, so the commit waits for the disk. */
  readonly isLasting?: boolean;
  /** Many events: it shares no transaction, because others would wait for it. */
  readonly isLarge?: boolean;
  /** Sent together with the beginning of the transaction. */
  readonly ahead?: readonly Statement[];
  /** Called again in a transaction of its own if the shared one fails. */
  write?(connection: Connection, answers: readonly Answer[]): Promise<void>;
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
const PATIENCE_MS = 250;
/** A follower that takes longer than this gets transactions of its own, until it takes less. */
const SLOW_MS = 100;

/**
 * The followers of a process write together: whatever is due when a transaction begins shares it, because a
 * transaction costs the same for one as for all. If it fails, each turn gets its own, so that a follower that
 * fails, waits for a lock, or has much to write never stops another. Which process a follower runs in, and up
 * to where it has written, remains a matter of its own lease and checkpoint.
 */
export class Pass {
  readonly #pool: Pool;
  readonly #limits: { readonly patienceMs: number; readonly slowMs: number };
  readonly #waiting = new Map<object, Waiting>();
  readonly #running = new Map<object, Waiting>();
  readonly #slow = new WeakSet<object>();
  #sharedSinceMs: number | undefined;
  #wake: { readonly atMs: number; readonly timer: Disposable } | undefined;

  constructor(pool: Pool, { patienceMs = PATIENCE_MS, slowMs = SLOW_MS } = {}) {
    this.#pool = pool;
    this.#limits = { patienceMs, slowMs };
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
        : Math.max(dueAtMs, this.#sharedSinceMs + this.#limits.patienceMs);
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
    const mustBeAlone = ({ key, turn }: Waiting): boolean => turn.isLarge === true || this.#slow.has(key);
    const free = this.#free();
    const isLate = this.#sharedSinceMs !== undefined;
    const alone = free.filter((each) => each.dueAtMs <= nowMs && (isLate || mustBeAlone(each)));
    const together = isLate ? [] : free.filter((each) => !mustBeAlone(each));
    for (const each of alone) void this.#alone(this.#begin(each));
    if (together.some(({ dueAtMs }) => dueAtMs <= nowMs)) {
      this.#sharedSinceMs = nowMs;
      void this.#together(together.map((each) => this.#begin(each)));
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

  async #alone(each: Waiting): Promise<void> {
    const startMs = REAL_TIME.elapsedMs();
    let failure: { readonly error: unknown } | undefined;
    try {
      await writeAlone(this.#pool, each.turn);
    } catch (error) {
      failure = { error };
    }
    this.#judge(each.key, REAL_TIME.elapsedMs() - startMs);
    this.#end(each, failure);
  }

  async #together(all: readonly Waiting[]): Promise<void> {
    const [first] = all;
    if (first && all.length === 1) await this.#alone(first);
    else
      try {
        for (const each of await this.#share(all)) this.#end(each);
      } catch (error) {
        // A second attempt would wait for a silent server as long again.
        if (isSilence(error)) for (const each of all) this.#end(each, { error });
      }
    this.#sharedSinceMs = undefined;
    // Nobody waits for these: each may take long by itself.
    for (const each of all) if (this.#running.get(each.key) === each) void this.#alone(each);
    this.#schedule();
  }

  /** Returns those whose checkpoints could be moved; the others are held, or no longer where they were. */
  async #share(all: readonly Waiting[]): Promise<readonly Waiting[]> {
    const moves = new Map(
      all.map((each) => [{ follower: each.turn.follower, ...each.turn.move() } as MoveOf, each]),
    );
    const made = await this.#write(moves);
    for (const move of made) moves.get(move)?.turn.committed();
    return made.flatMap((move) => moves.get(move) ?? []);
  }

  async #write(turns: ReadonlyMap<MoveOf, Waiting>): Promise<readonly MoveOf[]> {
    const moves = [...turns.keys()];
    const all = [...turns.values()];
    if (all.every(({ turn }) => turn.write === undefined && !turn.isLasting))
      return moveCheckpointsAlone(this.#pool, moves);
    const settings = sharedSettings(
      all.some(({ turn }) => turn.isLasting),
      this.#limits.patienceMs,
    );
    const ahead = all.flatMap(({ turn }) => turn.ahead ?? []);
    // The checkpoints come first, so that a superseded leader notices before it writes anything.
    const first = [settings, movingCheckpoints(moves), ...ahead];
    return inTransactionAfter(this.#pool, first, async (connection, [, moved, ...answers]) => {
      const made = movedOf(moves, moved);
      let from = 0;
      for (const [move, { turn, key }] of turns) {
        const own = answers.slice(from, from + (turn.ahead?.length ?? 0));
        from += own.length;
        if (!turn.write || !made.includes(move)) continue;
        const startMs = REAL_TIME.elapsedMs();
        await turn.write(connection, own);
        this.#judge(key, REAL_TIME.elapsedMs() - startMs);
      }
      return made;
    });
  }

  #judge(key: object, tookMs: number): void {
    if (tookMs > this.#limits.slowMs) this.#slow.add(key);
    else this.#slow.delete(key);
  }
}

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

const writeAlone = async (pool: Pool, turn: Turn): Promise<void> => {
  const { follower, isLasting = false, ahead = [], write } = turn;
  const move = turn.move();
  if (write || isLasting) {
    const settings = isLasting ? LASTING_SETTINGS : PASSING_SETTINGS;
    const first = [settings, movingCheckpoint(follower, move), ...ahead];
    await inTransactionAfter(pool, first, async (connection, [, moved, ...answers]) => {
      demandMoved(follower, moved);
      await write?.(connection, answers);
    });
  } else await moveCheckpointAlone(pool, follower, move);
  turn.committed();
};

/** At the earliest at the end of this turn of the event loop, so that those who come in it share. */
const wakeAt = (atMs: number, work: () => void): Disposable => {
  const waitMs = atMs - REAL_TIME.elapsedMs();
  if (waitMs > 0) return REAL_TIME.after(waitMs, work);
  const immediate = setImmediate(work);
  return { [Symbol.dispose]: () => clearImmediate(immediate) };
};
