import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { UserId } from '#shared/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import type { Caller } from '#shared/policy.ts';
import type { Topic } from './topics.ts';

/**
 * Those who get the same bytes for the same change, unless it concerns them themselves. Two cohorts of the
 * same key must be the same in everything, and the callers of one must have the same role, scopes and
 * attributes: whoever comes first renders for all.
 */
export type Cohort = {
  /**
   * All that the bytes depend on: what was asked for, the role, the scopes, what rights compare of the
   * caller, and the form.
   */
  readonly key: string;
  /** A change that has any of these is rendered, each change once; the rest is not looked at. */
  readonly topics: readonly Topic[];
  /**
   * The message of a change, or nothing where the caller is not to hear of it. The caller is either a
   * stranger of the cohort's kind, who owns nothing, or, once more, one whom the change concerns, by what
   * rights to it depend on. The result is shared and kept for some seconds. Throwing means that it could not
   * be found out: the readers fail, because they must not miss it. What is wrong with the question itself is
   * a message.
   */
  render(change: Change, caller: Caller): Promise<Buffer | undefined>;
};

/** Messages, made once for all who get the same. */
export type Renderings = {
  of(cohort: Cohort, change: Change, caller: Caller): Promise<Buffer | undefined>;
  /** Forgets what is too old to be handed out. */
  purge(): void;
  /** Forgets all: what was made before shows more than may be read now. */
  clear(): void;
};

const BYTES_MAX = 32 * 1_048_576;
const ENTRY_BYTES = 200;
/**
 * What a message shows is what could be read when it was made, which may be taken back, so it is kept no
 * longer than a crowd that lost its connections takes to come back.
 */
const KEPT_MS = 5_000;
/** A reader that waits longer does better to come again. */
const RENDER_MAX_MS = 10_000;

export const createRenderings = (renderMaxMs = RENDER_MAX_MS): Renderings => {
  const made = new LRUCache<string, Buffer>({
    maxSize: BYTES_MAX,
    ttl: KEPT_MS,
    sizeCalculation: (message, key) => ENTRY_BYTES + message.length + key.length,
  });
  let inMaking = new Map<string, Promise<Buffer | undefined>>();

  const make = async (
    key: string,
    render: () => Promise<Buffer | undefined>,
  ): Promise<Buffer | undefined> => {
    const current = inMaking;
    try {
      const message = await inTime(render(), renderMaxMs);
      if (current === inMaking) made.set(key, message ?? NOTHING);
      return message;
    } finally {
      current.delete(key);
    }
  };

  return {
    async of(cohort, change, caller) {
      const key = `${change.position} ${caller.kind === 'user' ? caller.userId : caller.kind} ${cohort.key}`;
      const message = made.get(key);
      if (message !== undefined) return message === NOTHING ? undefined : message;
      const pending = inMaking.get(key) ?? make(key, () => cohort.render(change, caller));
      inMaking.set(key, pending);
      return pending;
    },
    purge: () => made.purgeStale(),
    clear() {
      made.clear();
      inMaking = new Map();
    },
  };
};

const NOTHING = Buffer.alloc(0);

const inTime = async <Value>(work: Promise<Value>, maxMs: number): Promise<Value> => {
  const done = new AbortController();
  const late = delay(maxMs, undefined, { signal: done.signal }).then(() => {
    // Told as what passes: clients of GraphQL do not come again after anything else.
    throw new HttpProblem('unavailable', { cause: new Error(`a message was not made within ${maxMs} ms`) });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    done.abort();
  }
};

/** A caller as others of the cohort are, who owns nothing. No user has this id. */
export const strangerLike = (caller: Caller): Caller =>
  caller.kind === 'user' ? { ...caller, userId: 0 as UserId } : caller;
