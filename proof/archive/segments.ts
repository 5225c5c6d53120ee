import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { SignedManifest } from '../export/manifest.ts';
import { MANIFEST } from '../export/plan.ts';

/** A segment is an export; its manifest is written last, and makes it part of the archive. */
export type Segment = { readonly number: number; readonly manifest: SignedManifest };

/** More than one a day for 25 years. */
export const SEGMENTS_MAX = 10_000;

export const pathIn = (number: number, name: string): string =>
  `segments/${String(number).padStart(6, '0')}/${name}`;

const readSegment = async (
  files: Pick<PublishedFiles, 'read'>,
  number: number,
): Promise<Segment | undefined> => {
  const content = await files.read(pathIn(number, MANIFEST));
  if (content === undefined) return undefined;
  try {
    return { number, manifest: SignedManifest.parse(JSON.parse(content.toString('utf8'))) };
  } catch (cause) {
    throw new StartRefused(
      `${pathIn(number, MANIFEST)} of the archive does not have the format of this release: it was changed, or written by a later release.`,
      { cause },
    );
  }
};

/** In order, each once. */
export async function* segmentsIn(files: Pick<PublishedFiles, 'read'>): AsyncGenerator<Segment> {
  for (let number = 1; number <= SEGMENTS_MAX; number += 1) {
    const segment = await readSegment(files, number);
    if (segment === undefined) return;
    yield segment;
  }
}

export const sha256Of = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** A folder for one segment, which is removed with everything in it. */
export const openScratch = async (): Promise<{ readonly folder: string } & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-archive-'));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
};
