import type { Content, History } from '../history.ts';

/** A violation planted in a correct history. */
export type Plant = (history: History) => Partial<History>;

export const change = <Each>(all: readonly Each[], place: number, changed: Partial<Each>): readonly Each[] =>
  all.map((each, index) => (index === place ? { ...each, ...changed } : each));
export const without = <Each>(all: readonly Each[], place: number): readonly Each[] =>
  all.filter((_, index) => index !== place);
export const twice = <Each>(all: readonly Each[], place: number): readonly Each[] =>
  all.flatMap((each, index) => (index === place ? [each, each] : [each]));
export const swapped = <Each>(all: readonly Each[], place: number): readonly Each[] => [
  ...all.slice(0, place),
  ...all.slice(place, place + 2).toReversed(),
  ...all.slice(place + 2),
];
export const inFeed =
  (changed: (received: readonly string[]) => readonly string[]): Plant =>
  ({ feeds }) => ({
    feeds: feeds.map((feed) => ({ ...feed, received: changed(feed.received) })),
  });
export const inContents =
  (place: number, changed: Partial<Content>): Plant =>
  ({ feeds }) => ({
    feeds: feeds.map((feed) => ({ ...feed, contents: change(feed.contents, place, changed) })),
  });
export const inDelivery =
  (changed: (delivery: History['deliveries'][number]) => Partial<History['deliveries'][number]>): Plant =>
  ({ deliveries }) => ({
    deliveries: deliveries.map((delivery) => ({ ...delivery, ...changed(delivery) })),
  });
