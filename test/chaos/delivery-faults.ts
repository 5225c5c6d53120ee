import { isDeepStrictEqual } from 'node:util';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { type Arrival, isSigned } from './receivers.ts';
import { faultsOf } from './sequence.ts';
import type { Happened } from './visible-events.ts';
import type { LedgerRow } from './webhook-ledger.ts';

/** Everything about a webhook at the end: expected deliveries, actual ones, and the ledger. */
export type Delivered = {
  readonly webhookId: number;
  readonly expected: readonly Happened[];
  readonly events: ReadonlyMap<string, DecodedEvent>;
  readonly identity: LogIdentity;
  readonly arrivals: readonly Arrival[];
  readonly ledger: readonly LedgerRow[];
  readonly secrets: readonly string[];
  readonly payload: 'thin' | 'full';
  /** Whether first arrivals are compared with the order of the log. */
  readonly isOrdered: boolean;
};

const isAccepted = (status: number | null | undefined): boolean => status === 204;

export const deliveryFaults = (delivered: Delivered): readonly string[] => [
  ...arrivalFaults(delivered),
  ...delivered.arrivals.flatMap((arrival) => messageFaults(arrival, delivered)),
  ...bodyFaults(delivered.arrivals),
  ...silenceFaults(delivered),
  ...ledgerFaults(delivered),
];

/**
 * Every delivery arrives at least once, and nothing else; in order, if required. Retracted ones may be
 * withheld.
 */
const arrivalFaults = ({ expected, arrivals, ledger, isOrdered, events }: Delivered): readonly string[] => {
  const firsts = [...new Set(arrivals.map(({ id }) => id))];
  const positionOfEvent = (id: string) => events.get(id)?.position ?? Number.POSITIVE_INFINITY;
  const inOrder = isOrdered
    ? firsts
    : firsts.toSorted((one, other) => positionOfEvent(one) - positionOfEvent(other));
  const arrived = new Set(firsts);
  const withheld = new Set(
    ledger.filter(({ id, state }) => state === 'withheld' && !arrived.has(id)).map(({ id }) => id),
  );
  const ids = expected.map(({ id }) => id).filter((id) => !withheld.has(id));
  return faultsOf(ids, inOrder);
};

/** Checks the signature and the content of one callback. */
const messageFaults = (
  arrival: Arrival,
  { events, identity, secrets, payload }: Delivered,
): readonly string[] => {
  const event = events.get(arrival.id);
  if (!event) return [];
  const body = JSON.parse(arrival.body) as Record<string, unknown> & { data: Record<string, unknown> };
  const data = JSON.parse(JSON.stringify(event.data)) as Record<string, unknown>;
  const ids = Object.fromEntries(Object.entries(data).filter(([name]) => name.endsWith('Id')));
  const isRight =
    body.id === event.id &&
    body.type === event.type &&
    body.cursor === formatCursor(identity, event.position, event.id) &&
    body.subject === event.stream &&
    (isDeepStrictEqual(body.data, ids) || (payload === 'full' && isDeepStrictEqual(body.data, data)));
  return [
    ...(isRight ? [] : [`another content: ${arrival.body}`]),
    ...(isSigned(arrival, secrets) ? [] : [`not signed: ${arrival.id}`]),
  ];
};

const bodyFaults = (arrivals: readonly Arrival[]): readonly string[] =>
  [...Map.groupBy(arrivals, ({ id }) => id)]
    .map(([, same]) => [...new Set(same.map(({ body }) => body))])
    .filter((bodies) => bodies.length > 1)
    .map((bodies) => `several bodies: ${bodies.join(' and ')}`);

/** No event from the time while it was disabled may be sent before that was requested. */
const silenceFaults = ({ webhookId, events, arrivals }: Delivered): readonly string[] => {
  const own = [...events.values()].filter(
    ({ data }) => (data as { webhookId?: number }).webhookId === webhookId,
  );
  return own.flatMap(({ type, position }, place) => {
    const next = (wanted: string) => own.slice(place).find((later) => later.type === wanted);
    const [enabled, asked] = [next('webhook.enabled'), next('webhook.replay_requested')];
    if (type !== 'webhook.disabled' || !enabled || !asked) return [];
    const isMissed = (at: number) => at > position && at < enabled.position;
    const early = arrivals.filter(
      ({ id, atMs }) => isMissed(events.get(id)?.position ?? 0) && atMs < asked.recordedAt.getTime(),
    );
    return early.map(({ id }) => `sent while disabled: ${id}`);
  });
};

/**
 * Compares the ledger with the receiver: the receiver may have accepted more than was recorded, but never
 * less.
 */
const ledgerFaults = ({ expected, arrivals, ledger, events }: Delivered): readonly string[] => {
  const given = Map.groupBy(arrivals, ({ id }) => id);
  const [wanted, listed] = [expected.map(({ id }) => id), ledger.map(({ id }) => id)];
  const faults = faultsOf(wanted, listed).map((fault) => `in the ledger, ${fault}`);
  const ofRow = ({ id, state, attempts, statuses }: LedgerRow): readonly string[] => {
    const answers = (given.get(id) ?? []).flatMap((arrival) =>
      arrival.given === undefined ? [] : [arrival.given],
    );
    const invented = statuses.filter((status) => status !== null && !takeOne(answers, status));
    const isFinished =
      (state === 'delivered' && isAccepted(statuses.at(-1))) ||
      (state === 'dead' && !isAccepted(statuses.at(-1))) ||
      (state === 'withheld' && isTakenBack(events, id));
    const isRight = isFinished && attempts === statuses.length && invented.length === 0;
    return isRight
      ? []
      : [
          `the ledger says ${state} of ${id} after ${attempts} attempts: ${statuses}; it was answered ${answers}`,
        ];
  };
  return [...faults, ...ledger.flatMap(ofRow)];
};

const takeOne = (answers: readonly number[] & number[], status: number): boolean => {
  const place = answers.indexOf(status);
  if (place >= 0) answers.splice(place, 1);
  return place >= 0;
};

const TAKING_BACK = new Set(['article.unpublished', 'article.deleted', 'comment.deleted']);

/** Returns whether the subject, or its article, became unreadable at a later time. */
const isTakenBack = (events: ReadonlyMap<string, DecodedEvent>, id: string): boolean => {
  const event = events.get(id);
  const articleOf = ({ data }: DecodedEvent) => (data as { articleId?: number }).articleId;
  return [...events.values()].some(
    (later) =>
      event &&
      TAKING_BACK.has(later.type) &&
      later.position >= event.position &&
      articleOf(later) === articleOf(event),
  );
};
