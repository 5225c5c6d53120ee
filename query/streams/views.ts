import type { RequestHandler } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
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
import { eventMessage } from '../sse/messages.ts';
import { outletTo } from '../sse/stream-reader.ts';
import { equalIn, representing } from '../views/reads.ts';
import { demandViewSource } from '../views/source.ts';
import { formatStreamCursor, stampOf, streamPositionOf } from '../views/stream-cursor.ts';
import { type StreamDependencies, streamHandlers } from './stream-route.ts';

type Dependencies = Pick<Live, 'feed' | 'views'> &
  StreamDependencies & {
    readonly domain: Domain;
    readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  };

/** The lists of views as server-sent events. */
export const viewStreamRoutes = (dependencies: Dependencies): RequestHandler => {
  const { domain, feed, views, eventLog } = dependencies;
  const table = createRouteTable();
  for (const [, operation] of ofViews(domain)) {
    if (operation.reads.does !== 'list') continue;
    const source = demandViewSource(domain, operation.reads.view);
    const [asked, represent, joined] = [
      followedView(source.view),
      representing(domain, source),
      referencesOf(domain, source),
    ];
    const handlers = streamHandlers(dependencies, {
      admit: (request) => demandRight(request, operation),
      async prepare(request) {
        const { after: given, ...filters } = parametersOf(asked, request.query);
        const caller = callerOf(request);
        const equal = equalIn(source, filters);
        const stamp = stampOf(source, caller, equal);
        const after = await streamPositionOf(request, given as string | undefined, { eventLog, feed, stamp });
        const cursorAt = (position: Position) => formatStreamCursor(eventLog, position, stamp);
        return (stream) =>
          views.follow({
            ...{ source, caller, equal, joined, after, ...outletTo(stream, cursorAt) },
            render({ type, row }, position) {
              const of = row === undefined ? {} : { key: keyOfRow(source.view, row) };
              const shown = type === 'changed' ? { row: represent(row, caller) } : {};
              return eventMessage({
                id: cursorAt(position),
                data: JSON.stringify({ type, ...of, ...shown }),
              });
            },
          });
      },
    });
    table.routerOf(operation.path).get(operation.path, ...handlers);
  }
  return table.handler;
};
