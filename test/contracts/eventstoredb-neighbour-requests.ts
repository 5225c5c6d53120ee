import { randomUUID } from 'node:crypto';
import { ANY, binaryEvent, type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import type { Random } from '../../testing/random.ts';

export const REQUESTS = ['appends', 'links', 'limits', 'deletions', 'tombstones'] as const;

export type Request = (typeof REQUESTS)[number];

/** Kinds of streams: ours, such that look like ours, and others. */
const KINDS = ['thing', 'article', 'annals', 'annalsx.thing', 'order'];
const EVENTS_MAX = 40;

const OPTIONS = {
  /**
   * With credentials, the client makes a call of each append. Its other call throws outside of every promise
   * when the server answers twice, and if it fails, it fails for all clients of the process.
   */
  credentials: { username: 'neighbour', password: 'unchecked' },
  /** Under load, an answer may take longer than the client’s own limit. */
  deadline: 120_000,
};

/** New, so that no earlier neighbour with the same seed has deleted it. */
export const streamOfNeighbour = (random: Random): string => `${random.pick(KINDS)}-${randomUUID()}`;

/** The first of them exist. */
const STREAMS_OF_OURS = 9;

type Requested = {
  readonly client: EventStoreDBClient;
  readonly stream: string;
  readonly random: Random;
};

/** A request of another application. */
export const send = (request: Request, { client, stream, random }: Requested): Promise<unknown> => {
  switch (request) {
    case 'appends':
      return appendSome(random.below(EVENTS_MAX) + 1, { client, stream, random });
    case 'links': {
      // As the projections of the server do, also of our streams.
      const kind = random.pick([...KINDS, 'annals.article']);
      const target = random.pick([stream, `${kind}-${random.below(STREAMS_OF_OURS)}`]);
      const link = binaryEvent({ type: '$>', data: Buffer.from(`${random.below(9)}@${target}`) });
      return client.appendToStream(`$ce-${kind}`, link, OPTIONS);
    }
    case 'limits':
      return client.setStreamMetadata(
        stream,
        random.pick([{ maxAge: 0 }, { maxCount: 1 }, { truncateBefore: 2 }]),
        OPTIONS,
      );
    case 'deletions':
      return client.deleteStream(stream, { ...OPTIONS, expectedRevision: ANY });
    case 'tombstones':
      return client.tombstoneStream(stream, { ...OPTIONS, expectedRevision: ANY });
  }
};

/** Events of all shapes. */
export const appendSome = (count: number, { client, stream, random }: Requested): Promise<unknown> =>
  client.appendToStream(
    stream,
    Array.from({ length: count }, () => eventOf(random)),
    OPTIONS,
  );

const eventOf = (random: Random) =>
  random.pick([
    () => jsonEvent({ type: 'theirs', data: { n: random.below(9) } }),
    () => jsonEvent({ type: 'theirs', data: [1, 'two'] }),
    () => jsonEvent({ type: 'thing.noted', data: { n: 1 }, metadata: { version: 1, actor: 'user:1' } }),
    () => jsonEvent({ type: 'article.drafted', data: DRAFTED, metadata: DRAFTED_BY }),
    () => binaryEvent({ type: 'theirs', data: Buffer.from(random.text()) }),
    () => jsonEvent({ type: 'theirs', data: null as never }),
  ])();

/** Of an application that was made like ours. */
const DRAFTED = { title: 'Theirs', body: '', tags: [], cover: null };
const DRAFTED_BY = {
  ...{ version: 1, at: '2026-01-01T00:00:00.000Z', actor: 'system:theirs', client: null, request: 'r' },
  ...{ $correlationId: 'c', $causationId: null },
};
