import { cosignatureIn, witnessKeyIdOf } from './cosignature.ts';
import { keyIdOf, type Note, type NoteKey } from './note.ts';
import type { Policy, PolicyWitness } from './policy.ts';
import type { CheckCosignatures, Witnessed } from './signatures.ts';

/** For the checks of proofs. */
export const byPolicy =
  (policy: Policy): CheckCosignatures =>
  (note, logKey) =>
    checkCosignatures(note, logKey, policy);

/** Checks the cosignatures of a note; a sentence if they are not enough. */
const checkCosignatures = (note: Note, logKey: NoteKey, policy: Policy): Witnessed | string => {
  const found = policy.witnesses.map((witness) => ({ witness, ...cosignatureIn(note, witness.key) }));
  const wrong = found.find(({ is }) => is === 'wrong');
  if (wrong !== undefined)
    return `The cosignature of the witness ${wrong.witness.name} is wrong: it, or the checkpoint, was changed.`;
  const cosigned = found
    .flatMap((each) => (each.is === 'right' ? [{ witness: each.witness, atS: each.atS }] : []))
    .toSorted((one, other) => one.atS - other.atS);
  const names = cosigned.map(({ witness }) => witness.name);
  // A policy that demands nobody says nothing about time.
  const isFree = policy.isReached(new Set());
  const needed = isFree ? -1 : names.findIndex((_, at) => policy.isReached(new Set(names.slice(0, at + 1))));
  if (needed < 0 && !isFree) return notEnough(names, foreignIn(note, logKey, policy));
  return {
    cosigned: cosigned.map(({ witness: { name, key }, atS }) => ({
      ...{ name, key: key.name, algorithm: key.algorithm, at: timeOf(atS) },
    })),
    by: needed < 0 ? null : timeOf(cosigned[needed]?.atS ?? 0),
  };
};

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const notEnough = (names: readonly string[], foreign: readonly string[]): string => {
  const who = names.length === 0 ? 'none of them' : `only ${names.join(', ')}`;
  const others = foreign.length === 0 ? '' : `; the policy does not name ${foreign.join(', ')}`;
  return `Not enough witnesses of the policy have cosigned the checkpoint: ${who}${others}.`;
};

/** The names of keys that have signed too, and are neither those of the log nor of the policy. */
const foreignIn = ({ signatures }: Note, logKey: NoteKey, policy: Policy): readonly string[] => {
  const known = policy.witnesses.map(({ key }: PolicyWitness) => ({
    name: key.name,
    id: witnessKeyIdOf(key),
  }));
  const all = [...known, { name: logKey.name, id: keyIdOf(logKey) }];
  const foreign = signatures.filter(
    ({ name, id }) => !all.some((each) => each.name === name && each.id.equals(id)),
  );
  return [...new Set(foreign.map(({ name }) => name))];
};
