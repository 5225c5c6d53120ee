import { streamOf } from '../../testing/graphql/graphql-stream.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { faultsOf } from './sequence.ts';
import { type Failure, type Site, tokenOf } from './steady-load.ts';

/** Subscribers that reconnect at once after their last id whenever a stream ends. */
type SteadyReaders = AsyncDisposable & {
  /**
   * Waits until they have received a last change, and returns events that were invisible to them and
   * differences from the expected sequence.
   */
  end(): Promise<{
    readonly streams: number;
    readonly messages: number;
    readonly failures: readonly Failure[];
    readonly faults: readonly string[];
  }>;
};

const WAYS = ['GET /events', 'POST /graphql'] as const;
const FROM_HERE = { title: 'From here on', body: 'x', tags: [], publish: true };
const PATIENCE_MS = 120_000;

export const startReaders = async (site: Site): Promise<SteadyReaders> => {
  const from = await write(site);
  const leaving = new AbortController();
  const readers = WAYS.map((way) => startReader(site, { way, from, signal: leaving.signal }));
  const stop = async () => {
    leaving.abort();
    await Promise.all(readers.map(({ gone }) => gone));
  };
  return {
    [Symbol.asyncDispose]: stop,
    async end() {
      const last = await write(site);
      const hasAll = () => readers.every(({ received }) => received().includes(last));
      await until(hasAll, Boolean, PATIENCE_MS).catch(() => {});
      await stop();
      // One uninterrupted stream gives the expected sequence.
      await using all = startReader(site, {
        way: 'GET /events',
        from,
        signal: AbortSignal.timeout(scaled(PATIENCE_MS)),
      });
      const happened = await until(all.received, (received) => received.includes(last), PATIENCE_MS);
      const upTo = (received: readonly string[]) =>
        received.slice(0, received.indexOf(last) + 1 || undefined);
      return {
        streams: readers.reduce((sum, { streams }) => sum + streams(), 0),
        messages: readers.reduce((sum, { received }) => sum + received().length, 0),
        failures: readers.flatMap(({ failures }) => failures),
        faults: readers.flatMap(({ received }, place) =>
          faultsOf(upTo(happened), upTo(received())).map((fault) => `${WAYS[place]}: ${fault}`),
        ),
      };
    },
  };
};

/** Returns the cursor of the change. */
const write = async (site: Site): Promise<string> => {
  const made = await restClientOf(site)('POST', '/articles', {
    token: await tokenOf(site),
    body: { ...FROM_HERE, publish: false },
  });
  return made.headers.get('consistency-token') ?? '';
};

type Reading = { readonly way: (typeof WAYS)[number]; readonly from: string; readonly signal: AbortSignal };

const startReader = (site: Site, { way, from, signal }: Reading) => {
  const leaving = new AbortController();
  const left = AbortSignal.any([signal, leaving.signal]);
  const past: string[] = [];
  const failures: Failure[] = [];
  let current: Followed | undefined;
  let [last, streams] = [from, 0];
  const visit = async (): Promise<void> => {
    const stream = await open(site, way, last);
    streams += 1;
    if (stream.status !== 200) failures.push({ at: new Date(), what: way, why: stream.status });
    current = stream;
    await until(() => stream.isOver() || left.aborted, Boolean, 10 * PATIENCE_MS);
    await stream.close();
    current = undefined;
    past.push(...cursorsOf(stream));
    last = stream.lastEventId() || last;
  };
  const read = async (): Promise<void> => {
    while (!left.aborted)
      await visit().catch(
        (error: Error) =>
          void failures.push({ at: new Date(), what: way, why: String(error.cause ?? error) }),
      );
  };
  const gone = read();
  return {
    received: (): readonly string[] => (current ? [...past, ...cursorsOf(current)] : past),
    streams: () => streams,
    failures,
    gone,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await gone;
    },
  };
};

const open = async (site: Site, way: Reading['way'], after: string): Promise<Followed> => {
  const token = await tokenOf(site);
  if (way === 'GET /events')
    return follow(`${site.url}/events?after=${after}`, {
      headers: { authorization: `Bearer ${token}` },
      fetch: site.fetch,
    });
  return streamOf(site, 'subscription ($after: Cursor) { changes(after: $after) { cursor } }', {
    variables: { after },
    token,
  });
};

type Notification = { readonly cursor?: string };

/** Only events; a stream also sends the reason for its end, such as an expired token. */
const cursorsOf = ({ messages }: Followed): readonly string[] =>
  messages
    .filter(({ event, id, data }) => {
      if (event === 'complete') return false;
      const message = JSON.parse(data) as Notification & {
        data?: Readonly<Record<string, Notification>> | null;
      };
      const notification = event === 'next' ? Object.values(message.data ?? {})[0] : message;
      return notification?.cursor === id;
    })
    .map(({ id }) => id);
