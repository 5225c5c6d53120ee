import { expect, test } from 'vitest';
import { aKey, aLog, LOG, LOG_OF_ITEM, OTHER_LOG } from '../../test/proven-log.ts';
import { checkConsistency, writeConsistency } from './consistency-file.ts';
import { originOf } from './tree-head.ts';

const signer = aKey();
const other = aKey(OTHER_LOG);
const younger = LOG_OF_ITEM.slice(0, 6);
const kept = aLog(younger).noteOf(signer);
const grown = aLog(LOG_OF_ITEM);
const consistent = async (from = younger.length): Promise<string> =>
  writeConsistency(from, await grown.consistencyFrom(from), grown.noteOf(signer));

test.for([
  ['is cut', async () => (await consistent()).slice(0, -40), kept, 'or a part of it is missing.'],
  [
    'is of another log',
    async () => aLog(younger).noteOf(other),
    kept,
    `The kept checkpoint is of the log ${originOf(LOG)}, and the other one of ${originOf(OTHER_LOG)}.`,
  ],
  [
    'is older than the kept checkpoint',
    async () => kept,
    grown.noteOf(signer),
    'The kept checkpoint covers 15 entries, and the other one only 6: the log went back, or they were exchanged.',
  ],
  [
    'is of a fork',
    consistent,
    aLog(LOG_OF_ITEM.slice(1, 7)).noteOf(signer),
    'The log no longer begins with the 6 entries of the kept checkpoint',
  ],
  [
    'is of a fork of the same size',
    async () => aLog(LOG_OF_ITEM.slice(1, 7)).noteOf(signer),
    kept,
    'The log no longer begins with the 6 entries of the kept checkpoint',
  ],
  [
    'has no hashes',
    async () => grown.noteOf(signer),
    kept,
    'Two checkpoints alone show no more than their sizes: get the proof of consistency from the log.',
  ],
  [
    'begins elsewhere',
    () => consistent(7),
    kept,
    'The proof begins with 7 entries, and the kept checkpoint covers 6.',
  ],
  ['comes with a broken checkpoint', consistent, kept.slice(0, -9), 'The kept checkpoint: The file is no'],
  [
    'is signed by another key',
    consistent,
    aLog(younger).noteOf(aKey()),
    'The kept checkpoint: The checkpoint',
  ],
] as const)('a proof of consistency that %s is refused in one sentence', async ([, proof, old, reason]) => {
  const checked = checkConsistency(await proof(), old, [signer.key, other.key]);
  expect(checked.isProven ? 'proven' : checked.reason).toContain(reason);
});
