import { cosignatureIn } from '../tree/cosignature.ts';
import { parseNote } from '../tree/note.ts';
import type { Policy, PolicyWitness } from '../tree/policy.ts';

/** Several keys may be at one address. */
export const addressesOf = ({
  witnesses,
}: Policy): readonly (readonly [string, readonly PolicyWitness[]])[] => [
  ...Map.groupBy(witnesses, ({ url = '' }) => url),
];

/** Whether enough witnesses of the policy have cosigned the head. */
export const isWitnessed = (text: string, { witnesses, isReached }: Policy): boolean => {
  const note = parseNote(text);
  if (note === undefined) return false;
  const cosigned = witnesses.filter(({ key }) => cosignatureIn(note, key).is === 'right');
  return isReached(new Set(cosigned.map(({ name }) => name)));
};
