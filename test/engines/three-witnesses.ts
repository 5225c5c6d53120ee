import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshTest } from './audited-log.ts';
import { startTestWitness } from './test-witness.ts';
import { witnessedSide } from './witnessed-log-side.ts';

/** A log with three witnesses, of which two must cosign. */
export const test = freshTest
  .extend('side', ({ audited }) => witnessedSide(audited))
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-witnesses-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  .extend('three', async ({ folder, side }, { onCleanup }) => {
    const witnesses = await Promise.all(
      ['w1', 'w2', 'w3'].map((name) => startTestWitness(folder, `${name}.example`)),
    );
    onCleanup(async () => {
      for (const witness of witnesses) await witness[Symbol.asyncDispose]();
    });
    for (const witness of witnesses) witness.knows(side.origin, side.vkey);
    return witnesses as unknown as readonly [Witness, Witness, Witness];
  })
  .extend('policy', ({ three }) =>
    [
      ...three.map((witness, at) => witness.line(`w${at + 1}`, at === 0 ? 'ML-DSA-44' : 'Ed25519')),
      'group most 2 w1 w2 w3',
      'quorum most',
    ].join('\n'),
  );
type Witness = Awaited<ReturnType<typeof startTestWitness>>;
