import { faultsOf } from '../../sequence.ts';
import type { Callback, EndpointHistory } from '../history.ts';
import type { Violation } from './violation.ts';

/** I3: every delivery was received, or is a dead letter, with one id and one body. */
export const deliveryViolations = (endpoint: EndpointHistory): readonly Violation[] => {
  const { name, expected, takenBack, received, ledger, isOrdered } = endpoint;
  const violation = (kind: Violation['kind'], what: string): Violation => ({
    invariant: 'I3',
    kind,
    what: `${name}: ${what}`,
  });
  const states = new Map(ledger.map(({ id, state }) => [id, state]));
  const accepted = new Set(received.filter(({ isAccepted }) => isAccepted).map(({ id }) => id));
  const mayBeMissing = new Set([
    ...ledger.filter(({ state }) => state === 'dead').map(({ id }) => id),
    ...takenBack.filter((id) => states.get(id) === 'withheld'),
  ]);
  const wanted = new Set(expected);
  const seen = new Set<string>();
  return [
    ...expected
      .filter((id) => !accepted.has(id) && !mayBeMissing.has(id))
      .map((id) => violation('lost', `${id} (${states.get(id)})`)),
    ...received
      .filter(({ id }) => !wanted.has(id))
      .map(({ id, body }) => violation('other', `${id} is not for it: ${body.slice(0, TOLD_MAX)}`)),
    ...(isOrdered ? orderOf(endpoint).map((id) => violation('reordered', id)) : []),
    ...several(
      received,
      ({ id }) => id,
      ({ body }) => body,
    ).map((id) => violation('other', `${id} came with several bodies`)),
    ...several(
      received,
      ({ cursor }) => cursor,
      ({ id }) => id,
    ).map((cursor) => violation('duplicated', `${cursor} came under several ids`)),
    ...ledger
      .filter(({ id }) => seen.has(id) || !seen.add(id))
      .map(({ id }) => violation('duplicated', `${id} is in the ledger twice`)),
    ...ledger
      .filter(({ id, state }) => state === 'delivered' && !accepted.has(id))
      .map(({ id }) => violation('lost', `${id}, said to be delivered`)),
    ...ledger
      .filter(({ state }) => !ENDS.has(state))
      .map(({ id, state }) => violation('lost', `${id} is still ${state}`)),
    ...ledger
      .filter(({ id }) => !wanted.has(id))
      .map(({ id }) => violation('other', `${id} in the ledger is not for it`)),
  ];
};

/** The length of a body in a finding. */
const TOLD_MAX = 200;
const ENDS = new Set(['delivered', 'dead', 'withheld']);

/** Compares the order of first acceptances with that of the events. */
const orderOf = ({ received, expected }: EndpointHistory): readonly string[] => {
  const firsts = [...new Set(received.filter(({ isAccepted }) => isAccepted).map(({ id }) => id))];
  const came = new Set(firsts);
  const inLog = expected.filter((id) => came.has(id));
  return faultsOf(inLog, firsts).filter((fault) => fault.startsWith('out of order'));
};

/** The keys with more than one value. */
const several = (
  received: readonly Callback[],
  key: (one: Callback) => string,
  value: (one: Callback) => string,
): readonly string[] =>
  [...Map.groupBy(received, key)]
    .filter(([, same]) => new Set(same.map(value)).size > 1)
    .map(([found]) => found);
