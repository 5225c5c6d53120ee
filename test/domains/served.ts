import { mkdir, writeFile } from 'node:fs/promises';
import type { Host } from '../../testing/describe-domain/host.ts';
import { hostOf } from '../describe/host.ts';
import type { Grown } from './grow.ts';
import { fileOf } from './source.ts';

/** Ignored by git, and within the package, so that the file finds its imports. */
const FOLDER = 'test-results/domains';

/** Writes the declaration to a file that `DOMAIN_FILE` can name. */
export const writeDomain = async ({ seed, plan }: Pick<Grown, 'seed' | 'plan'>): Promise<string> => {
  await mkdir(FOLDER, { recursive: true });
  const file = `${FOLDER}/seed-${seed}.ts`;
  await writeFile(file, fileOf(plan));
  return file;
};

export const hostFor = async (served: Pick<Grown, 'seed' | 'plan' | 'domain'>): Promise<Host> =>
  hostOf(served.domain, await writeDomain(served));
