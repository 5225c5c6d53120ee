import { setTimeout as delay } from 'node:timers/promises';
import type { Followed } from '../../../testing/http/event-source.ts';
import type { Content } from './history.ts';

/**
 * A subscriber that reconnects after its last cursor whenever the stream ends or falls silent, and records
 * all messages.
 */
export type Reader = {
  readonly name: string;
  /** Each message as its cursor and its type, in order of arrival. */
  readonly received: readonly string[];
  readonly contents: readonly Content[];
  readonly visits: () => number;
  lastCursor(): string;
  end(): Promise<void>;
};

type Options = {
  readonly name: string;
  readonly from: string;
  readonly onFailure: (why: string) => void;
  /** Resumes after a cursor. */
  open(cursor: string, onSign: () => void): Promise<Followed>;
};

/** A healthy stream sends a heartbeat every second. */
const SILENCE_MAX_MS = 4_000;
const OPEN_MAX_MS = 4_000;
const LOOK_MS = 20;
const AGAIN_MS = 100;
const OK = 200;

export const startReader = ({ name, from, open, onFailure }: Options): Reader => {
  const leaving = new AbortController();
  const received: string[] = [];
  const contents: Content[] = [];
  let [last, visits] = [from, 0];
  let current: (() => void) | undefined;
  const visit = async (): Promise<void> => {
    let signMs = Date.now();
    let taken = 0;
    const stream = await inTime(
      open(last, () => {
        signMs = Date.now();
        current?.();
      }),
    );
    if (stream.status !== OK) {
      await stream.close();
      throw new Error(String(stream.status));
    }
    visits += 1;
    const take = () => {
      for (const message of stream.messages.slice(taken)) {
        taken += 1;
        const notification = read(message);
        if ('problem' in notification) onFailure(`said ${notification.problem}`);
        else if (message.event !== 'complete') {
          received.push(notification.message);
          contents.push(...notification.contents);
        }
      }
      last = stream.lastEventId() || last;
    };
    current = take;
    try {
      while (!stream.isOver() && !leaving.signal.aborted && Date.now() - signMs < SILENCE_MAX_MS)
        await delay(LOOK_MS);
    } finally {
      await stream.close();
      take();
      current = undefined;
    }
  };
  const follow = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      await visit().catch(async (error: Error) => {
        onFailure(error.message);
        await delay(AGAIN_MS);
      });
    }
  };
  const following = follow();
  return {
    name,
    received,
    contents,
    visits: () => visits,
    lastCursor: () => last,
    async end() {
      leaving.abort();
      await following;
    },
  };
};

/** Closes a stream that opens too late. */
const inTime = async (opening: Promise<Followed>): Promise<Followed> => {
  const stream = await Promise.race([opening, delay(OPEN_MAX_MS, undefined, { ref: false })]);
  if (stream !== undefined) return stream;
  opening.then(
    (late) => late.close(),
    () => {},
  );
  throw new Error('no answer');
};

/** An event of `/events`, or what was asked of it by GraphQL. */
type Notification = {
  readonly cursor: string;
  readonly type: string;
  readonly id?: string;
  readonly subject?: string;
  readonly at?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly subjectId?: string | null;
};
type Code = { readonly code?: string };
type Graphql = {
  readonly data?: Readonly<Record<string, Notification>> | null;
  readonly errors?: readonly { readonly extensions?: Code }[];
};

/**
 * A message of `/events` is the event; one of GraphQL contains it under the name of the field. A stream that
 * must end sends the reason.
 */
const read = ({ event, id, data }: Followed['messages'][number]): Told | { readonly problem: string } => {
  if (event === 'complete') return { message: '', contents: [] };
  const said = JSON.parse(data) as Notification & Code & Graphql;
  if (event === 'problem') return { problem: said.code ?? data };
  const notification = event === 'next' ? Object.values(said.data ?? {})[0] : said;
  if (event === 'next' && !notification && said.errors)
    return { problem: said.errors[0]?.extensions?.code ?? data };
  return {
    contents: notification === undefined ? [] : [contentOf(notification)],
    message:
      notification?.cursor === id
        ? `${id} ${notification.type}`
        : `${id} said ${event}: ${data.slice(0, 200)}`,
  };
};

type Told = { readonly message: string; readonly contents: readonly Content[] };

/** GraphQL has the number of the item instead of its stream. */
const contentOf = ({ cursor, type, id, subject, at: time, data, subjectId }: Notification): Content => ({
  ...{ cursor, id, type, time, data },
  subject: subject ?? (subjectId ? `${type.split('.')[0]}-${subjectId}` : undefined),
});
