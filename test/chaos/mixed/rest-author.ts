import { randomUUID } from 'node:crypto';
import type { Ask, Reply } from '../../../testing/http/rest-client.ts';
import type { Leaves, State, Write } from './history.ts';
import type { Recorder } from './recorder.ts';
import type { Sender, Sent } from './sender.ts';

/** A client that writes by REST, and reads its own writes; all of it is recorded. */
export type RestAuthor = {
  /** Returns the path, if the item exists afterwards. */
  create(path: string, body: object, leaves: Leaves): Promise<string | undefined>;
  /** With a key, or with the version that it changes: either makes it safe to send again. */
  edit(path: string, change: Change, options: EditOptions): Promise<void>;
  remove(path: string, options: EditOptions): Promise<void>;
  /** Reads as the client that wrote it, which must see it; or as anybody. */
  read(path: string, options?: { readonly isConsistent?: boolean }): Promise<void>;
};

type Change = Readonly<Record<string, string>>;
type EditOptions = { readonly leaves: Leaves; readonly hasKey?: boolean };
type Options = { readonly name: string; readonly send: Sender; readonly recorder: Recorder };

const PRECONDITION_FAILED = 412;
const GONE = new Set([404, 410]);

export const createRestAuthor = ({ name, send, recorder }: Options): RestAuthor => {
  let cursor: string | undefined;
  const states = new Map<string, State>();
  const consistently = (): Record<string, string> =>
    cursor === undefined ? {} : { 'consistency-token': cursor };

  const write = async (asked: Asked, judge: (sent: Sent) => Promise<Judged>): Promise<Judged> => {
    const startMs = Date.now();
    const request = randomUUID();
    const sent = await send(asked.method, asked.path, {
      ...asked,
      headers: { ...asked.headers, 'x-request-id': request },
    });
    const judged = sent.reply === undefined ? UNKNOWN : await judge(sent);
    const { outcome, target = asked.path, state = 0, isVisible = false, position, why } = judged;
    const what = `${asked.method} ${asked.path.replaceAll(/\d+/g, '{id}')}`;
    const [endMs, said] = [
      Date.now(),
      { isVisible, ...(position !== undefined && { position }), ...(why !== undefined && { why }) },
    ];
    const { attempts } = sent;
    recorder.writes.push({
      request,
      client: name,
      what,
      startMs,
      endMs,
      attempts,
      outcome,
      leaves: asked.leaves,
      target,
      state,
      ...said,
    });
    if (outcome === 'acknowledged') states.set(target, state);
    return judged;
  };
  const acknowledge = (reply: Reply, target: string, state: State): Judged => {
    const token = reply.headers.get('consistency-token');
    if (token === null) return { outcome: 'acknowledged', target, state };
    cursor = token;
    return { outcome: 'acknowledged', target, state, isVisible: true, position: positionOf(token) };
  };
  /** Nobody else writes there, so any change is that of the previous attempt. */
  const found = async (
    path: string,
    was: State | undefined,
    change: Readonly<Record<string, string>>,
  ): Promise<Judged> => {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const { reply } = await send('GET', path, { headers: consistently() });
      if (reply?.status === OK && versionOf(reply) !== was) {
        const isOurs = Object.entries(change).every(
          ([field, value]) => (reply.body as Record<string, unknown>)[field] === value,
        );
        return isOurs
          ? { outcome: 'acknowledged', state: versionOf(reply), isVisible: true }
          : { outcome: 'refused', why: 'something else is there' };
      }
    }
    return { outcome: 'unknown' };
  };
  return {
    async create(path, body, leaves) {
      const headers = { 'idempotency-key': randomUUID() };
      const { outcome, target } = await write(
        { method: 'POST', path, body, headers, leaves },
        async ({ reply }) => {
          if (reply?.status !== CREATED) return refusal(reply);
          return acknowledge(reply, reply.headers.get('location') ?? '', versionOf(reply));
        },
      );
      return outcome === 'acknowledged' ? target : undefined;
    },
    async edit(path, change, { leaves, hasKey = false }) {
      const was = states.get(path);
      const condition = { 'if-match': `"${was}-0"` };
      const headers = { ...condition, ...(hasKey && { 'idempotency-key': randomUUID() }) };
      const asked = { method: 'PATCH', path, body: change, headers, leaves };
      await write(asked, async ({ reply, isUncertain }) => {
        if (reply?.status === OK) return acknowledge(reply, path, versionOf(reply));
        // A key tells its repetition apart: it gets the first answer.
        return reply?.status === PRECONDITION_FAILED && isUncertain && !hasKey
          ? found(path, was, change)
          : refusal(reply);
      });
    },
    async remove(path, { leaves, hasKey = false }) {
      const headers = hasKey ? { 'idempotency-key': randomUUID() } : {};
      await write({ method: 'DELETE', path, headers, leaves }, async ({ reply, isUncertain }) => {
        const isRepeated = isUncertain && !hasKey;
        const isDone = reply !== undefined && (reply.status < 300 || (GONE.has(reply.status) && isRepeated));
        return isDone ? acknowledge(reply, path, 'gone') : refusal(reply);
      });
    },
    async read(path, { isConsistent = true } = {}) {
      const startMs = Date.now();
      const { reply } = await send('GET', path, isConsistent ? { headers: consistently() } : {});
      if (reply === undefined) return;
      const state = GONE.has(reply.status) ? 'gone' : versionOf(reply);
      recorder.reads.push({
        client: name,
        target: path,
        startMs,
        endMs: Date.now(),
        isConsistent,
        found: state,
        ...(state !== 'gone' && { shows: shownIn(reply.body) }),
      });
    },
  };
};

/** The fields that the clients write. */
const SHOWN = ['title', 'body', 'tags', 'text'];
export const shownIn = (body: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries((body ?? {}) as Record<string, unknown>).filter(([name]) => SHOWN.includes(name)),
  );

const OK = 200;
const CREATED = 201;
/** The read model may not have it yet. */
const LOOKS_MAX = 1_000;

type Asked = Ask & { readonly method: string; readonly path: string; readonly leaves: Leaves };
type Judged = Pick<Write, 'outcome' | 'why' | 'position'> & {
  readonly target?: string;
  readonly state?: State;
  readonly isVisible?: boolean;
};

const UNKNOWN: Judged = { outcome: 'unknown' };

const refusal = (reply: Reply | undefined): Judged => ({
  outcome: 'refused',
  why: `${reply?.status} ${JSON.stringify(reply?.body)?.slice(0, 300)}`,
});

/** The first part of an entity tag. */
const versionOf = ({ headers }: Reply): number =>
  Number(/^(?:W\/)?"(\d+)/.exec(headers.get('etag') ?? '')?.[1]);

const positionOf = (cursor: string): number => Number.parseInt(cursor.split('-')[1] ?? '', 36);
