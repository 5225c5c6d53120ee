import { Registry } from 'prom-client';
import { openBlobs } from '#shared/blobs/open.ts';
import type { UserId } from '#shared/brands.ts';
import { applyErasures } from '#shared/erasure/apply.ts';
import { startCommandService } from '../command/service.ts';
import type { Command } from './command.ts';
import { type Erasing, withErasures } from './erasure.ts';
import { number } from './progress.ts';

export const erasureApply: Command = {
  name: 'erasure apply',
  summary: 'Erases again whoever is on the erasure list and came back with a backup; every start does so as well.',
  positionals: [],
  options: {},
  examples: ['erasure apply'],
  run: (_given, terminal) =>
    withErasures(terminal, async (erasing) => {
      const restored = await eraseListed(erasing);
      const listed = await erasing.erasures.read();
      await terminal.write(`${number(listed.length)} on the erasure list ${erasing.erasures.path}; ${whoCameBack(restored.length)}.`);
    }),
};

/** Destroys the keys of those on the list, and records that they are deleted. Answers with those who had a key, or none here. */
export const eraseListed = async (erasing: Erasing): Promise<readonly UserId[]> => {
  const restored = await applyErasures(erasing);
  await using blobs = await openBlobs({ url: erasing.config.blobUrl, health: { add: () => {} } });
  // The beginning of the command side deletes them again where the log does not say that they were.
  await using _gateway = await startCommandService({ ...erasing, blobs, metrics: new Registry() });
  return restored;
};

const whoCameBack = (count: number): string =>
  count === 0
    ? 'nobody of them had come back'
    : `${number(count)} had come back, and are erased again: what follows from that follows once Annals runs`;
