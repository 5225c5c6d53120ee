import { setTimeout as delay } from 'node:timers/promises';
import type { Followed } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';

/** A subscriber that connects, listens for a while, disconnects, and resumes. */
export type Follower = {
  /** Each message as its cursor and the type of the event. */
  received(): readonly string[];
  readonly visits: () => number;
  lastCursor(): string;
  /** From now on it disconnects only when it is forced to. */
  stay(): void;
  /** True before the end only after an error. */
  isOver(): boolean;
  /** Resolves once it has disconnected, and throws an earlier error. */
  end(): Promise<void>;
};

type Options = {
  readonly from: string;
  readonly random: () => number;
  /** Resumes after a cursor, at any running process. */
  open(cursor: string): Promise<Followed>;
};

const MESSAGES_MAX = 40;
const STAY_MS_MAX = 2_500;
const RETRY_MS = 50;
/** Longer than any visit in a test that ends. */
const VISIT_MS_MAX = 300_000;
const OK = 200;
/** A process that has just started, or is about to end. */
const UNAVAILABLE = 503;

export const startFollower = ({ from, random, open }: Options): Follower => {
  const leaving = new AbortController();
  const received: string[] = [];
  let [last, visits, stays] = [from, 0, false];
  let current: Followed | undefined;
  let isOver = false;

  const visit = async (stream: Followed): Promise<void> => {
    const [messagesMax, endMs] = [1 + random() * MESSAGES_MAX, performance.now() + random() * STAY_MS_MAX];
    const isTired = () => !stays && (stream.messages.length >= messagesMax || performance.now() > endMs);
    visits += 1;
    current = stream;
    try {
      await until(() => stream.isOver() || leaving.signal.aborted || isTired(), Boolean, VISIT_MS_MAX);
    } finally {
      await stream.close();
      current = undefined;
      received.push(...stream.messages.flatMap(read));
      last = stream.lastEventId() || last;
    }
  };
  const comeAndGo = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      // The serving process may have been killed.
      const stream = await open(last).catch(() => undefined);
      if (stream?.status === OK) await visit(stream);
      else if (stream === undefined || stream.status === UNAVAILABLE) await delay(RETRY_MS);
      else throw new Error(`a stream after ${last} was refused with ${stream.status}`);
    }
  };
  const following = comeAndGo().finally(() => {
    isOver = true;
  });
  // The caller gets the failure at the end.
  following.catch(() => {});
  return {
    received: () => received,
    visits: () => visits,
    lastCursor: () => current?.lastEventId() || last,
    stay: () => {
      stays = true;
    },
    isOver: () => isOver,
    async end() {
      leaving.abort();
      await following;
    },
  };
};

type Notification = { readonly cursor: string; readonly type: string };

/** A message of `/events` is the event; one of GraphQL contains it under the name of the field. */
const read = ({ event, id, data }: Followed['messages'][number]): readonly string[] => {
  if (event === 'complete') return [];
  const message = JSON.parse(data) as Notification & { data?: Readonly<Record<string, Notification>> | null };
  const notification = event === 'next' ? Object.values(message.data ?? {})[0] : message;
  if (notification?.cursor !== id) throw new Error(`a stream said ${event}: ${data}`);
  return [`${id} ${notification.type}`];
};
