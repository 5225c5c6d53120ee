import type { StreamName } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { FIRST, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { streamReferencesOf } from '#shared/events/stream-references.ts';
import { messagesOfItems } from './messages-of-items.ts';

/** Chooses from the events of a log, page after page in its order. */
export type WantedStreams = {
  select(events: readonly RecordedEvent[]): {
    readonly events: readonly RecordedEvent[];
    /** Streams that turn out to be wanted though some of their events have passed. */
    readonly late: ReadonlySet<StreamName>;
  };
};

type Asked = {
  readonly domain: Domain;
  /** One a line: `user-1001`, or `user-*` for all whose names begin so. Lines with `#` are remarks. */
  readonly list: string;
  /**
   * Also what belongs to them by an owner or a parent, what belongs to that, and the reservations of their requests
   * and messages.
   */
  readonly withOwned: boolean;
};

export const wantedStreams = ({ domain, list, withOwned }: Asked): WantedStreams => {
  const isNamed = namedIn(list);
  const referencesOf = streamReferencesOf(domain);
  const owned = new Set<StreamName>();
  const isWanted = (stream: StreamName): boolean => owned.has(stream) || isNamed(stream);
  /** By their holders, of which nothing has come yet. */
  const claims = new Map<StreamName, StreamName[]>();
  const messages = messagesOfItems(domain, isWanted);
  return {
    select(events) {
      const late = new Set<StreamName>();
      const ownReservations = (streams: readonly StreamName[]): void => {
        for (const stream of streams.filter((each) => !isWanted(each))) own(stream, FIRST + 1);
      };
      const own = (stream: StreamName, version: number): void => {
        owned.add(stream);
        if (version === FIRST) return;
        late.add(stream);
        ownReservations(messages.release(stream));
      };
      const selected = events.filter((event) => {
        const { stream, version } = event;
        if (withOwned && !isWanted(stream)) {
          const { owners, isBeforeOwner = false } = referencesOf(event);
          const [owner] = owners;
          if (owners.some(isWanted)) own(stream, version);
          else if (isBeforeOwner && owner) claims.set(owner, [...(claims.get(owner) ?? []), stream]);
        }
        if (version === FIRST) {
          if (isWanted(stream)) for (const claim of claims.get(stream) ?? []) own(claim, FIRST + 1);
          claims.delete(stream);
        }
        if (withOwned) ownReservations(messages.after(event));
        return isWanted(stream);
      });
      return { events: selected, late };
    },
  };
};

const namedIn = (list: string): ((stream: StreamName) => boolean) => {
  const lines = list
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const wrong = lines.find((line) => !/^[^\s*]+\*?$/.test(line));
  if (wrong !== undefined)
    throw new StartRefused(
      `“${wrong}” in --streams is not the name of a stream, such as user-1001 or user-*.`,
    );
  if (lines.length === 0) throw new StartRefused('The file of --streams names no stream.');
  const names = new Set(lines.filter((line) => !line.endsWith('*')));
  const beginnings = lines.filter((line) => line.endsWith('*')).map((line) => line.slice(0, -1));
  return (stream) => names.has(stream) || beginnings.some((beginning) => stream.startsWith(beginning));
};
