import type { ListAnswer } from '#edge/rest/reads/answer.ts';
import type { Position } from '#kernel/base/brands.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { ChangesPage, Order } from './page.ts';

export type Bounds = {
  readonly after?: string;
  readonly before?: string;
  readonly since?: string | undefined;
};
type Links = Omit<ListAnswer['links'], 'self'>;
type LinkOptions = {
  readonly hrefAt: (place?: Bounds) => string;
  readonly isOver: boolean;
  readonly isFirst: boolean;
};

export const linksOn = (
  { hrefAt, isOver, isFirst, onwards }: LinkOptions & { readonly onwards: string },
  { isLast }: ChangesPage,
): Links => ({
  ...(!isFirst && { first: hrefAt() }),
  ...(isOver ? {} : { [isLast ? 'poll' : 'next']: hrefAt({ after: onwards }) }),
});

type BackOptions = LinkOptions & {
  readonly order: Order;
  readonly cursor: (position: Position) => string;
  readonly since: string | undefined;
  readonly start: Position;
  readonly upTo: Position;
};

/** `next` has older events. `prev` has newer ones; if there are none yet, it is `poll`. */
export const linksBack = (
  { hrefAt, order, isOver, isFirst, cursor, since, start, upTo }: BackOptions,
  { reached, isLast }: ChangesPage,
): Links => {
  const newest = order === 'desc' ? upTo : reached;
  const isNewest = order === 'desc' ? isFirst : isLast;
  const hasOlder = order === 'desc' ? !isLast : start > START;
  const older = ((order === 'desc' ? reached : start) + 1) as Position;
  return {
    ...(!isFirst && { first: hrefAt() }),
    ...(isNewest && isOver ? {} : { [isNewest ? 'poll' : 'prev']: hrefAt({ after: cursor(newest) }) }),
    ...(hasOlder && { next: hrefAt({ before: cursor(older), since }) }),
  };
};

export const hrefOf = (
  parameters: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): string => {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `/events?${new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string]))}`;
};
