import { cosignatureIn } from '../tree/cosignature.ts';
import { parseNote } from '../tree/note.ts';
import type { Policy } from '../tree/policy.ts';

/** Whether enough witnesses of the policy have cosigned the head. */
export const isWitnessed = (text: string, { witnesses, isReached }: Policy): boolean => {
  const note = parseNote(text);
  if (note === undefined) return false;
  const cosigned = witnesses.filter(({ key }) => cosignatureIn(note, key).is === 'right');
  return isReached(new Set(cosigned.map(({ name }) => name)));
};
