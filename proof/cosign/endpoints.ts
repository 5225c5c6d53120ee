import { cosignatureIn, type WitnessKey, witnessKeyIdOf } from '../tree/cosignature.ts';
import { type Note, parseNote } from '../tree/note.ts';
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

/** A note of the log, with the size of its head. */
type Head = { readonly size: number; readonly note: string };

export const endpointsOf = (
  policy: Policy,
  rows: readonly WitnessRow[],
  newest: Head | undefined,
): readonly Endpoint[] =>
  addressesOf(policy).map(([url, witnesses]) => {
    const known = rows.find((row) => row.url === url);
    const { size = 0, problem = null } = known ?? {};
    const keys = witnesses.map(({ key }) => key);
    const stored = parseNote(`stored\n\n${known?.cosignatures ?? ''}`)?.signatures ?? [];
    const endpoint = { url, witnesses, problem, failures: 0, retryAtMs: 0 };
    if (newest === undefined || newest.size !== size)
      return { ...endpoint, size, cosignatures: oneLineOfEach(stored, keys) };
    const right = rightOf(stored, keys, newest);
    // Without a line of each key it is asked again.
    const isWhole = keys.every((key) => right.some((each) => isBy(each, key)));
    return { ...endpoint, size: isWhole ? size : 0, cosignatures: oneLineOfEach(right, keys) };
  });

/** A process before, or somebody else, may have stored lines of other keys, several of one, or wrong ones. */
const rightOf = (
  signatures: Note['signatures'],
  keys: readonly WitnessKey[],
  { note }: Head,
): Note['signatures'] => {
  const { text } = parseNote(note) ?? {};
  return signatures.filter((each) =>
    keys.some((key) => text !== undefined && cosignatureIn({ text, signatures: [each] }, key).is === 'right'),
  );
};

const isBy = ({ name, id }: Note['signatures'][number], key: WitnessKey): boolean =>
  name === key.name && id.equals(witnessKeyIdOf(key));
