import type { DecodedEvent } from '#shared/events/codec.ts';
import type { EndpointKind } from './endpoint-kinds.ts';
import type { Arrival } from './receivers.ts';
import type { Happened } from './visible-events.ts';
import type { LedgerRow } from './webhook-ledger.ts';

type Found = {
  readonly kind: EndpointKind;
  readonly expected: readonly Happened[];
  readonly arrivals: readonly Arrival[];
  readonly ledger: readonly LedgerRow[];
  readonly faults: readonly string[];
};
type Course = { readonly events: ReadonlyMap<string, DecodedEvent>; readonly times: readonly number[] };

/** One row of a table. */
export const summary = (
  found: readonly Found[],
  { events, times }: Course,
): Readonly<Record<string, number>> => {
  const total = (count: (each: Found) => number) => found.reduce((sum, each) => sum + count(each), 0);
  const faulty = (start: string) =>
    total(({ faults }) => faults.filter((fault) => fault.startsWith(start)).length);
  const recoveries = found
    .filter(({ kind }) => !kind.disabledAs)
    .flatMap((each) => times.flatMap((atMs) => recoveryMs(each, events, atMs)))
    .toSorted((one, other) => one - other);
  const seconds = (share: number) =>
    Math.round((recoveries[Math.ceil(share * recoveries.length) - 1] ?? 0) / 10) / 100;
  return {
    faults: times.length,
    events: events.size,
    deliveries: total(({ expected }) => expected.length),
    attempts: total(({ ledger }) => ledger.reduce((sum, { attempts }) => sum + attempts, 0)),
    arrivals: total(({ arrivals }) => arrivals.length),
    lost: faulty('lost'),
    repeated: total(({ arrivals }) => repeated(arrivals)),
    'out of order': faulty('out of order'),
    'recovery p50 s': seconds(0.5),
    'recovery p99 s': seconds(0.99),
  };
};

/** How long the first change after a fault took to arrive. */
const recoveryMs = (
  { expected, arrivals }: Found,
  events: Course['events'],
  faultAtMs: number,
): readonly number[] => {
  const timeOf = (id: string) => events.get(id)?.recordedAt.getTime() ?? 0;
  const next = expected.find(({ id }) => timeOf(id) >= faultAtMs);
  const arrival = arrivals.find(({ id }) => id === next?.id);
  return next && arrival ? [Math.max(0, arrival.atMs - timeOf(next.id))] : [];
};

/** Repeated after the loss of an accepting answer, or by a redelivery. */
const repeated = (arrivals: readonly Arrival[]): number => {
  const accepted = new Set<string>();
  return arrivals.filter(({ id, given }) => {
    const isRepeated = accepted.has(id);
    if (given === 204) accepted.add(id);
    return isRepeated;
  }).length;
};
