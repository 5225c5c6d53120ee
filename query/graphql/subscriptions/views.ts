import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import type { Feed } from '../../changes/feed.ts';
import type { Row } from '../../rows/sources.ts';
import { eventMessage } from '../../sse/messages.ts';
import type { ViewReader } from '../../views/feed.ts';
import { NO_JOINS } from '../../views/rows.ts';
import { type ViewSource, viewSourcesOf } from '../../views/source.ts';
import { formatStreamCursor, stampOf, streamPositionOf } from '../../views/stream-cursor.ts';
import type { Runnable } from '../documents/run.ts';
import type { Execute, RequestFacts } from '../execute.ts';
import { equalIn } from '../resolvers/views.ts';
import { createFormatError } from '../rules/errors.ts';
import { memberName, viewChangedName } from '../rules/names.ts';
import type { AskedRoot } from './asked-changes.ts';
import { rethrowTemporary } from './cohort.ts';

/** The destination of a subscription’s messages. */
export type Outlet = Pick<ViewReader, 'send' | 'moveOn' | 'fail'>;

/** A message of a view, as the payload of a subscription. */
type ViewPayload = {
  readonly cursor: string;
  readonly type: string;
  readonly key: object | null;
  readonly row: Row | null;
};

type Options = {
  readonly domain: Domain;
  readonly feed: Pick<Feed, 'upTo'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  readonly execute: Execute;
  readonly log: Log;
};

/** A subscription to a view; undefined if it is to something else. */
export type SubscribeToView = (
  runnable: Runnable,
  asked: AskedRoot,
  request: Pick<Request, 'get'>,
) => Promise<ViewSubscription | undefined>;

export type ViewSubscription = {
  readonly readerTo: (outlet: Outlet) => ViewReader;
  /** Cursors of a view’s stream, which contain more than a position of the log. */
  readonly cursorAt: (position: Position) => string;
};

export const createSubscribeToView =
  ({ domain, feed, eventLog, execute, log }: Options): SubscribeToView =>
  async (runnable, { field, args }, request) => {
    const source = viewSourcesOf(domain).find(({ view }) => viewChangedName(view) === field);
    if (source === undefined) return undefined;
    const { caller } = runnable;
    const equal = equalIn(source, args);
    const stamp = stampOf(source, caller, equal);
    const given = (args.after ?? null) === null ? undefined : String(args.after);
    const after = await streamPositionOf(request, given, { eventLog, feed, stamp });
    const cursorAt = (position: Position) => formatStreamCursor(eventLog, position, stamp);
    const formatError = createFormatError(log, { requestId: 'view', traceId: undefined });
    return {
      cursorAt,
      readerTo: (outlet) => ({
        ...{ source, caller, equal, joined: NO_JOINS, after, ...outlet },
        async render(message, position) {
          const cursor = cursorAt(position);
          const [row, key] =
            message.type === 'reset'
              ? [null, null]
              : [message.type === 'changed' ? message.row : null, keyIn(source, message.row)];
          const event: ViewPayload = { cursor, type: message.type.toUpperCase(), key, row };
          const { data, errors } = await execute(runnable, factsOf(), event);
          if (errors) rethrowTemporary(errors);
          const shown = errors && { errors: errors.map(formatError) };
          return eventMessage({ event: 'next', id: cursor, data: JSON.stringify({ ...shown, data }) });
        },
      }),
    };
  };

/** By the names of arguments. */
const keyIn = ({ keys, members }: ViewSource, row: Row): object =>
  Object.fromEntries(members.slice(0, keys.length).map((member) => [memberName(member), row[member.column]]));

/** There is no request. */
const factsOf = (): RequestFacts => ({
  requestId: randomUUID(),
  idempotencyKey: undefined,
  charge: async () => {},
  headers: {},
  signal: new AbortController().signal,
});
