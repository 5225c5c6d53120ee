import type { RequestHandler } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { parametersOf } from '#edge/http/parameters.ts';
import { createRouteTable } from '#edge/http/route-table.ts';
import { demandRight } from '#edge/rest/admission.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { followedView, keyOfRow } from '#kernel/rest/views.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { ofViews } from '#shared/rest/operations.ts';
import { referencesOf } from '../kinds/item-references.ts';
import type { Live } from '../live/live.ts';
import { EVENT_STREAM_TYPE } from '../sse/event-stream.ts';
import { eventMessage, idMessage } from '../sse/messages.ts';
import { equalIn, representing } from '../views/reads.ts';
import { demandViewSource } from '../views/source.ts';
import { formatStreamCursor, stampOf, streamPositionOf } from '../views/stream-cursor.ts';

type Dependencies = Pick<Live, 'feed' | 'views' | 'streams' | 'demandPresentRole'> & {
  readonly domain: Domain;
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  readonly before: readonly RequestHandler[];
};

const TYPES = ['application/json', 'application/hal+json', EVENT_STREAM_TYPE] as const;

const passOthers: RequestHandler = (request, _response, next) =>
  next(demandPreferredType(request, TYPES) === EVENT_STREAM_TYPE ? undefined : 'route');

/**
 * The lists of views as server-sent events, for clients that prefer them; other requests fall through to the
 * pages.
 */
export const viewStreamRoutes = ({
  domain,
  feed,
  views,
  streams,
  eventLog,
  demandPresentRole,
  before,
}: Dependencies): RequestHandler => {
  const table = createRouteTable();
  for (const [, operation] of ofViews(domain)) {
    if (operation.reads.does !== 'list') continue;
    const source = demandViewSource(domain, operation.reads.view);
    const [asked, represent, joined] = [
      followedView(source.view),
      representing(domain, source),
      referencesOf(domain, source),
    ];
    const demand: RequestHandler = (request, _response, next) => {
      demandRight(request, operation);
      next();
    };
    table
      .routerOf(operation.path)
      .get(operation.path, passOthers, demand, ...before, async (request, response) => {
        const { after: given, ...filters } = parametersOf(asked, request.query);
        const caller = callerOf(request);
        const equal = equalIn(source, filters);
        const stamp = stampOf(source, caller, equal);
        const after = await streamPositionOf(request, given as string | undefined, { eventLog, feed, stamp });
        response.vary('Accept, Authorization');
        if (request.method === 'HEAD')
          return void response.type(EVENT_STREAM_TYPE).set('Cache-Control', 'no-cache').end();
        await demandPresentRole(request);
        const stream = streams.open(request, response);
        const cursorAt = (position: Position) => formatStreamCursor(eventLog, position, stamp);
        const membership = views.follow({
          ...{ source, caller, equal, joined, after },
          render(message, position) {
            const { type } = message;
            const of = type === 'reset' ? {} : { key: keyOfRow(source.view, message.row) };
            const row = type === 'changed' ? { row: represent(message.row, caller) } : {};
            return eventMessage({ id: cursorAt(position), data: JSON.stringify({ type, ...of, ...row }) });
          },
          send: (message) => stream.send(message),
          moveOn: (position) => void stream.send(idMessage(cursorAt(position))),
          fail: (error) => stream.fail(error),
        });
        stream.onClose(() => membership[Symbol.dispose]());
      });
  }
  return table.handler;
};
