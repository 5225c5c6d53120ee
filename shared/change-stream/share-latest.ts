import type { Clock, Timer } from '#shared/clock/clock.ts';
import type { ChangePage } from './change-stream.ts';
import type { ChangeReader } from './changes.ts';

type Reader = Pick<ChangeReader, 'toPage'>;
type Latest = { readonly key: string; readonly page: Promise<ChangePage> };

/** A later page is read again, because aggregates are parked and released. */
const SHARED_FOR_MS = 1_000;

/**
 * Followers of the log in one process mostly ask for the same page at the same time: the second one gets the page
 * of the first.
 */
export const shareLatest = (reader: Reader, clock: Clock): Reader => {
  let latest: Latest | undefined;
  let drops: Timer | undefined;
  const drop = (page: Latest): void => {
    if (latest === page) latest = undefined;
  };
  return {
    toPage(events, after) {
      const key = JSON.stringify([after, events.length, events[0]?.id, events.at(-1)?.id]);
      if (latest?.key === key) return latest.page;
      const made: Latest = { key, page: reader.toPage(events, after) };
      latest = made;
      made.page.catch(() => drop(made));
      // One timer, however many pages there are.
      drops?.[Symbol.dispose]();
      drops = clock.after(SHARED_FOR_MS, () => drop(made));
      return made.page;
    },
  };
};
