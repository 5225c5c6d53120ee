import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { UserId } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import type { Caller } from '#shared/policy.ts';
import type { Topic } from './topics.ts';

/**
 * Subscribers that get the same bytes for the same change, unless it concerns them themselves. Two cohorts
 * with the same key must be equal in everything, and their callers must have the same role, scopes and
 * attributes: the first one renders for all.
 */
export type Cohort = {
  /**
   * Everything that the bytes depend on: the request, the role, the scopes, the attributes that rights
   * compare, and the format.
   */
  readonly key: string;
  /** A change with any of these topics is rendered once; all others are skipped. */
  readonly topics: readonly Topic[];
  /**
   * The message of a change; nothing if the caller may not see it. The caller is a stranger of the cohort’s
   * kind, who owns nothing, or a user whom the change concerns, by the facts that rights to it depend on. The
   * result is shared and cached for some seconds. If it throws, the message could not be made: the readers
   * fail, because they must not miss it. An error in the request itself is a message.
   */
  render(change: Change, caller: Caller): Promise<Buffer | undefined>;
};

/** Messages, made once for all readers that get the same. */
export type Renderings = {
  of(cohort: Cohort, change: Change, caller: Caller): Promise<Buffer | undefined>;
  /** Drops expired messages. */
  purge(): void;
  /** Drops all messages: older ones show more than may be read now. */
  clear(): void;
};

const BYTES_MAX = 32 * 1_048_576;
const ENTRY_BYTES = 200;
/**
 * A message shows what could be read when it was made, and that right may be revoked. So it is cached only as
 * long as clients that have lost their connections take to reconnect.
 */
const KEPT_MS = 5_000;
/** A reader that would wait longer had better reconnect. */
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
    // Marked as temporary, because GraphQL clients retry after no other error.
    throw new HttpProblem('unavailable', {
      cause: new Error(`a message was not rendered within ${maxMs} ms`),
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => {});
    done.abort();
  }
};

/** The caller as others of the cohort are, who own nothing. No user has this id. */
export const strangerLike = (caller: Caller): Caller =>
  caller.kind === 'user' ? { ...caller, userId: 0 as UserId } : caller;
