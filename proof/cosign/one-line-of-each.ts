import { type WitnessKey, witnessKeyIdOf } from '../tree/cosignature.ts';
import { type Note, writeSignature } from '../tree/note.ts';

type Signature = Note['signatures'][number];

/**
 * The first in time of the lines of each key: a note has room for one of each, and none for all that a witness repeats.
 * A line of the time 0 says nothing about time.
 */
export const oneLineOfEach = (signatures: readonly Signature[], keys: readonly WitnessKey[]): string =>
  keys.map((key) => lineOf(signatures, key)).join('');

const TIME_BYTES = 8;

const timeOf = ({ bytes }: Signature): bigint => (bytes.length < TIME_BYTES ? 0n : bytes.readBigUInt64BE());

const lineOf = (signatures: readonly Signature[], key: WitnessKey): string => {
  const id = witnessKeyIdOf(key);
  const [first] = signatures
    .filter((each) => each.name === key.name && each.id.equals(id) && timeOf(each) > 0n)
    .toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
  return first === undefined ? '' : writeSignature(first.name, first.id, first.bytes);
};
