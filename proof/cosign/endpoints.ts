import { parseNote } from '../tree/note.ts';
import type { Policy, PolicyWitness } from '../tree/policy.ts';
import { oneLineOfEach } from './one-line-of-each.ts';
import type { WitnessRow } from './witness-rows.ts';

/** One address, and the witnesses of the policy that are asked there. */
export type Endpoint = {
  readonly url: string;
  readonly witnesses: readonly PolicyWitness[];
  size: number;
  cosignatures: string;
  problem: string | null;
  failures: number;
  retryAtMs: number;
};

/** Several keys may be at one address. */
export const addressesOf = ({
  witnesses,
}: Policy): readonly (readonly [string, readonly PolicyWitness[]])[] => [
  ...Map.groupBy(witnesses, ({ url = '' }) => url),
];

export const endpointsOf = (policy: Policy, rows: readonly WitnessRow[]): readonly Endpoint[] =>
  addressesOf(policy).map(([url, witnesses]) => {
    const known = rows.find((row) => row.url === url);
    const { size = 0, cosignatures, problem = null } = known ?? {};
    return {
      ...{ url, witnesses, size, problem, failures: 0, retryAtMs: 0 },
      cosignatures: readStored(cosignatures ?? '', witnesses),
    };
  });

/** A process before may have stored lines of a key that the policy no longer has, or several of one. */
const readStored = (lines: string, witnesses: readonly PolicyWitness[]): string =>
  oneLineOfEach(
    parseNote(`stored\n\n${lines}`)?.signatures ?? [],
    witnesses.map(({ key }) => key),
  );
