import { randomUUID } from 'node:crypto';
import {
  type Manner,
  type Receiver,
  refusing,
  resetting,
  seldomRefusing,
  startReceiver,
  steady,
  stubborn,
} from '../receivers.ts';
import { type Happened, isVisibleTo, type Viewer } from '../visible-events.ts';
import type { Content, EndpointHistory, LedgerEntry, LogEntry } from './history.ts';
import type { Person } from './readers.ts';
import type { Sender } from './sender.ts';

/** A webhook and its receiver. */
type Endpoint = {
  readonly kind: Kind;
  readonly receiver: Receiver;
  readonly webhookId: number;
  readonly from: number;
};

type Kind = {
  readonly name: string;
  readonly owner: 'admin' | 'ada' | 'bob';
  readonly asks: {
    readonly eventTypes: readonly string[];
    readonly payload?: 'full' | 'thin';
    readonly ordered?: boolean;
  };
  readonly manner: Manner;
  readonly types: RegExp;
};

const HANGS_MS = 5_000;
/** In one of twenty cases, longer than any timeout. */
const hanging: Manner = { answer: (random) => ({ status: 204, afterMs: random() < 0.05 ? HANGS_MS : 0 }) };

const KINDS: readonly Kind[] = [
  { name: 'everything', owner: 'admin', asks: { eventTypes: ['*'] }, manner: steady, types: /./ },
  {
    name: 'refusing',
    owner: 'ada',
    asks: { eventTypes: ['article.*'], payload: 'full' },
    manner: refusing,
    types: /^article\./,
  },
  {
    name: 'hanging',
    owner: 'admin',
    asks: { eventTypes: ['comment.*'], payload: 'full' },
    manner: hanging,
    types: /^comment\./,
  },
  {
    name: 'resetting',
    owner: 'bob',
    asks: { eventTypes: ['article.edited'] },
    manner: resetting,
    types: /^article\.edited$/,
  },
  {
    ...{ name: 'in order', owner: 'admin', asks: { eventTypes: ['comment.edited'], ordered: true } },
    ...{ manner: seldomRefusing, types: /^comment\.edited$/ },
  },
  {
    name: 'stubborn',
    owner: 'ada',
    asks: { eventTypes: ['comment.added'] },
    manner: stubborn,
    types: /^comment\.added$/,
  },
];

type Options = {
  readonly random: () => number;
  readonly senders: Readonly<Record<Kind['owner'], Sender>>;
  readonly resources: AsyncDisposableStack;
};

export const openEndpoints = async ({
  random,
  senders,
  resources,
}: Options): Promise<readonly Endpoint[]> => {
  const endpoints: Endpoint[] = [];
  for (const kind of KINDS) {
    const receiver = resources.use(await startReceiver(kind.manner, random));
    const body = {
      ...kind.asks,
      url: `${receiver.url}/hook`,
      limits: { ratePerSecond: 1_000, concurrency: 10 },
    };
    // A retry must not register a second webhook for the same receiver.
    const { reply } = await senders[kind.owner]('POST', '/webhooks', {
      body,
      headers: { 'idempotency-key': randomUUID() },
    });
    const { id, cursor } = (reply?.body ?? {}) as { readonly id?: number; readonly cursor?: string };
    if (id === undefined) throw new Error(`no webhook was registered: ${JSON.stringify(reply)}`);
    endpoints.push({ kind, receiver, webhookId: id, from: Number.parseInt(cursor?.split('-')[1] ?? '', 36) });
  }
  return endpoints;
};

type Recorded = {
  readonly people: Readonly<Record<Kind['owner'], Person>>;
  readonly happened: readonly Happened[];
  readonly log: readonly LogEntry[];
  readonly ledger: readonly LedgerEntry[];
};

/** The deliveries of an endpoint, beside the expected ones. */
export const historyOf = (
  { kind, receiver, from }: Endpoint,
  { people, happened, log, ledger }: Recorded,
): EndpointHistory => {
  const viewer: Viewer = people[kind.owner].viewer;
  const wanted = happened.filter(
    (each) => each.position > from && kind.types.test(each.type) && isVisibleTo(viewer, each),
  );
  const ends = new Map(
    log.filter(({ type }) => TAKING_BACK.test(type)).map(({ stream, position }) => [stream, position]),
  );
  const streams = new Map(log.map(({ id, stream }) => [id, stream]));
  const isTakenBack = ({ id, position, articleId }: Happened) =>
    [`article-${articleId}`, streams.get(id) ?? ''].some((stream) => (ends.get(stream) ?? -1) >= position);
  return {
    name: kind.name,
    isOrdered: kind.asks.ordered ?? false,
    expected: wanted.map(({ id }) => id),
    takenBack: wanted.filter(isTakenBack).map(({ id }) => id),
    received: receiver.arrivals.map(({ id, body, given }) => ({
      id,
      body,
      cursor: cursorIn(body),
      content: contentIn(body),
      isAccepted: given === 204,
    })),
    ledger,
  };
};

const TAKING_BACK = /^(?:article\.unpublished|article\.deleted|comment\.deleted)$/;

const cursorIn = (body: string): string => (JSON.parse(body) as { readonly cursor: string }).cursor;

const contentIn = (body: string): Content => {
  const { at, ...said } = JSON.parse(body) as Content & { readonly at: string };
  return { ...said, time: at };
};
