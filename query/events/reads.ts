import type { Position } from '#shared/brands.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { mayKnow } from '#shared/change-stream/may-know.ts';
import { formatCursor } from '#shared/cursor.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { LIMIT_DEFAULT } from '#shared/rest/lists.ts';
import type { ListAnswer } from '#shared/rest/reads/answer.ts';
import type { Reads } from '../read-routes.ts';
import { isAskedFor } from './filter.ts';
import { placeOf } from './place.ts';
import { readPage } from './read-page.ts';
import type { RepresentEvent } from './representation.ts';

type Dependencies = {
  readonly changes: Pick<ChangeStream, 'follow' | 'head'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'head'>;
  readonly represent: RepresentEvent;
};

/** The feed in pages. It has no end, only a last page for now, which says where to ask for more later. */
export const eventReads = ({ changes, eventLog, represent }: Dependencies): Reads<'listEvents'> => ({
  async listEvents({ caller }, { limit = LIMIT_DEFAULT, after, ...filter }) {
    const start = after === undefined ? START : await placeOf(after, { eventLog, known: START, parameter: 'after' });
    const page = await readPage(changes, {
      after: start,
      limit,
      isWanted: (change) => isAskedFor(filter, change) && mayKnow(caller, change),
    });
    const hrefAfter = (position: Position | undefined) =>
      hrefOf({ ...filter, limit, after: position && formatCursor(eventLog.identity, position) });
    const onwards = hrefAfter(page.upTo);
    const links: ListAnswer['links'] = {
      self: hrefAfter(after === undefined ? undefined : start),
      ...(after !== undefined && { first: hrefAfter(undefined) }),
      ...(page.isLast ? { poll: onwards } : { next: onwards }),
    };
    return { kind: 'list', items: await Promise.all(page.changes.map((change) => represent(change, caller))), links };
  },
});

const hrefOf = (parameters: Readonly<Record<string, string | number | readonly string[] | undefined>>): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `/events?${new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string]))}`;
};
