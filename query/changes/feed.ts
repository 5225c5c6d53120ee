import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { visibilityOf } from '#kernel/visibility/visibility.ts';
import type { Change, ChangePage, ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { LogWentBack } from '#shared/event-log/errors.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import type { Log } from '#shared/log.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import { NO_TRACING, type Tracing } from '#shared/tracing/tracing.ts';
import { createDeliverySpans } from './delivery-spans.ts';
import { createHistory } from './history.ts';
import type { Reader } from './lane.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { createRenderings } from './renderings.ts';
import { createRing, type RingLimits } from './ring.ts';
import { createTopicsOf } from './topics.ts';

/**
 * The changes of this process, received once and delivered to all subscribers. Each reader gets every
 * matching change exactly once and in order, from any position.
 *
 *     using membership = feed.join({ cohort, caller, after: position, send, moveOn, fail });
 */
export type Feed = AsyncDisposable & {
  /** Calls the reader from now on, but never before this returns. Disposal ends the calls. */
  join(reader: Reader): Disposable;
  /**
   * The last position that this process has received. A reader may start later, if another process has been
   * faster.
   */
  readonly upTo: Position;
};

type FeedOptions = {
  readonly domain: Domain;
  readonly changes: ChangeStream;
  /** Serves the past: the log, if `changes` is a broker. */
  readonly past?: Pick<ChangeStream, 'follow'>;
  /** Called with each change that is new to this process, before any reader gets it. */
  onReceived?(changes: readonly Change[]): void;
  /** The interval at which idle readers move on. */
  readonly moveOnMs: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Registry;
  /** Off unless given. */
  readonly tracing?: Tracing;
  /** The part of the past that is kept in memory. */
  readonly ringLimits?: RingLimits;
};

const RETRY_MS = 1_000;

/** Follows the changes from now on, for all readers of the process. */
export const openFeed = async ({
  domain,
  changes,
  past = changes,
  onReceived = () => {},
  moveOnMs,
  log,
  clock,
  metrics,
  tracing = NO_TRACING,
  ringLimits,
}: FeedOptions): Promise<Feed> => {
  const takesVisibility = createTakesVisibility(domain);
  const ring = createRing(await changes.head(), createTopicsOf(domain), ringLimits);
  const { received, sent } = observeFeed(metrics, () => lanes.count());
  const deliverySpans = createDeliverySpans(tracing);
  const renderings = createRenderings();
  const lanes = createLanes({
    ring,
    history: noteNews(createHistory(past), (page) =>
      onReceived(page.changes.filter(({ position }) => position > ring.upTo)),
    ),
    renderings,
    log,
    onSent: (count) => sent.inc(count),
    deliverySpans,
  });
  const stopping = new AbortController();

  const listen = async (): Promise<void> => {
    for await (const page of changes.follow(ring.upTo, stopping.signal)) {
      const fresh = ring.add(page);
      received.inc(fresh.length);
      deliverySpans?.receive(fresh);
      if (fresh.some(({ change }) => takesVisibility(change))) renderings.clear();
      onReceived(fresh.map(({ change }) => change));
      lanes.receive(fresh);
    }
  };
  const following = keepUp(listen, { clock, signal: stopping.signal }, (err) => {
    // Whatever guards the history logs that one.
    if (!(err instanceof LogWentBack)) log.warn({ err }, 'Following the changes failed; retrying.');
  });
  const movingOn = repeat(moveOnMs, { clock, signal: stopping.signal }, () => lanes.moveOn());
  return {
    join: (reader) => lanes.join(reader),
    get upTo() {
      return ring.upTo;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all([following, movingOn]);
      lanes.close();
      deliverySpans?.[Symbol.dispose]();
    },
  };
};

/** The log may be ahead of what this process has received; then readers of the past are ahead too. */
const noteNews = (
  past: Pick<ChangeStream, 'follow'>,
  note: (page: ChangePage) => void,
): Pick<ChangeStream, 'follow'> => ({
  async *follow(after, signal) {
    for await (const page of past.follow(after, signal)) {
      note(page);
      yield page;
    }
  },
});

/**
 * After this change, messages of earlier changes may show what can no longer be read. It excludes the
 * kernel’s own events: only their owner and administrators may read them, so no message to others shows them.
 * An unknown type may be anything.
 */
const createTakesVisibility = (domain: Domain): ((change: Change) => boolean) => {
  const catalogue = catalogueOf(domain);
  const { types } = visibilityOf(domain);
  return ({ type, isParked }) =>
    isParked || (types.get(type)?.takesAway ?? catalogue.find(type) === undefined);
};

type Lasting = { readonly clock: Clock; readonly signal: AbortSignal };

/** Repeats the work whenever it ends, until the signal. */
const keepUp = async (
  work: () => Promise<void>,
  { clock, signal }: Lasting,
  onFailure: (error: unknown) => void,
): Promise<void> => {
  while (!signal.aborted) {
    await work().catch((error: unknown) => {
      if (!signal.aborted) onFailure(error);
    });
    await clock.sleep(RETRY_MS, signal);
  }
};

const repeat = async (
  intervalMs: number,
  { clock, signal }: Lasting,
  work: () => Promise<void>,
): Promise<void> => {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    if (!signal.aborted) await work();
  }
};

/** Metrics of the feed. Several feeds of one process, as in tests, have a registry each. */
const observeFeed = (registry: Registry, count: () => ReturnType<Lanes['count']>) => {
  new Gauge({
    name: 'annals_feed_readers',
    help: 'Subscribers to changes, by state: live, or catching up.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { live, catchingUp } = count();
      this.set({ state: 'live' }, live);
      this.set({ state: 'catching_up' }, catchingUp);
    },
  });
  const received = new Counter({
    name: 'annals_feed_changes_total',
    help: 'Changes that this process has received.',
    registers: [registry],
  });
  const sent = new Counter({
    name: 'annals_feed_messages_total',
    help: 'Messages written to subscribers.',
    registers: [registry],
  });
  return { received, sent };
};
