import { mkdir, writeFile } from 'node:fs/promises';
import { withParts } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { EVERY_PART } from '../../parts.ts';
import type { Host } from '../../testing/describe-domain/host.ts';
import { hostOf } from '../describe/host.ts';
import type { Grown } from './grow.ts';
import { SENDER_SETTINGS } from './signed.ts';
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

export const hostFor = async (grown: Pick<Grown, 'seed' | 'plan' | 'domain'>): Promise<Host> =>
  hostOf(
    grown.domain,
    await writeDomain(grown),
    hasSenders(grown.domain) ? { parts: EVERY_PART, settings: SENDER_SETTINGS } : {},
  );

/** The domain as the installation serves it: with the inbox if it has senders. */
export const servedOf = (domain: Domain): Domain =>
  hasSenders(domain)
    ? withParts(
        domain,
        EVERY_PART.map(({ name }) => name),
      )
    : domain;

const hasSenders = ({ senders = [] }: Domain): boolean => senders.length > 0;
