import { follow, SILENCE_MAX_MS } from '../client/follow.ts';
import { wait } from '../client/wait.ts';
import type { Key, Row, Sink } from './copy.ts';
import { hasReached } from './cursors.ts';
import { type Asked, isStream, NoStream, type Source, STREAM_TYPES } from './source.ts';

/** Keeps the copy of a list that has a stream of its own, as views have. */

type Message = {
  readonly type: 'reset' | 'changed' | 'removed';
  readonly key?: object;
  readonly row?: Row;
};

/** A stream that has nothing of a write says so only with its next heartbeat. */
const QUIET_MS = 1_000;

export const followStream = (asked: Asked, sink: Sink, signal: AbortSignal): Source => {
  const { requester, path, query, keyOf, limit } = asked;
  /** Rows are removed by what the stream calls their key. */
  const keys = new Map<string, Key>();
  let rows: Map<Key, Row> | undefined;
  let isComplete = true;
  let cursor: string | undefined;
  const filters = { ...query, sort: undefined };

  const take = ({ type, key, row }: Message): void => {
    const name = JSON.stringify(key);
    if (type === 'reset') {
      [rows, isComplete] = [new Map(), true];
      keys.clear();
    } else if (row !== undefined) {
      const of = keyOf(row);
      keys.set(name, of);
      if (rows === undefined) sink.change(of, row);
      else if (rows.size < limit || rows.has(of)) rows.set(of, row);
      else isComplete = false;
    } else {
      const of = keys.get(name);
      keys.delete(name);
      if (of === undefined) return;
      if (rows === undefined) sink.change(of, undefined);
      else rows.delete(of);
    }
  };
  const moved = (to: string, isQuiet: boolean): void => {
    cursor = to;
    if (rows === undefined) sink.moved(to);
    // While all rows are sent, a cursor only says where to start over.
    else if (isQuiet) {
      sink.replace(rows, { cursor: to, isReset: true, isComplete });
      rows = undefined;
    }
  };
  const run = async (): Promise<never> => {
    const stream = follow<Message>({
      begin: async () => undefined,
      after: undefined,
      silenceMaxMs: SILENCE_MAX_MS,
      signal,
      watch: { moved, ended: sink.disconnected },
      async open(after, signal) {
        const response = await requester.once('GET', path, {
          query: { ...filters, after },
          options: { signal, headers: { Accept: STREAM_TYPES } },
          isStreamed: true,
        });
        if (!(await isStream(response))) throw new NoStream();
        sink.connected();
        return response;
      },
    });
    for await (const message of stream) take(message);
    throw signal.reason;
  };
  return {
    run,
    async hurry(token) {
      const before = cursor;
      await requester.send('GET', path, {
        query: { ...filters, limit: 1 },
        options: { consistency: token, signal },
      });
      await wait(QUIET_MS, signal);
      if (cursor === before && rows === undefined && !hasReached(cursor, token)) sink.moved(token);
    },
  };
};
