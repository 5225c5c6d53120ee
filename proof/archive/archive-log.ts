import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { START } from '#shared/event-log/event-log.ts';
import { exportLog } from '../export/export-log.ts';
import type { SignedManifest } from '../export/manifest.ts';
import { MANIFEST } from '../export/plan.ts';
import { GENESIS } from '../stored/chain.ts';
import { openScratch, pathIn, SEGMENTS_MAX, type Segment, segmentsIn, sha256Of } from './segments.ts';

type Archiving = Parameters<typeof exportLog>[0] & { readonly files: PublishedFiles };

/** Buckets are read file by file into memory. */
const FILE_BYTES_MAX = 16 * 1_048_576;

/**
 * Adds the events after the last segment up to a position as one segment more. Undefined if there are none. Nothing
 * is removed from the log.
 */
export const archiveLog = async (
  archiving: Archiving,
  upTo: Position,
): Promise<(Segment & { readonly files: number }) | undefined> => {
  const { files, eventLog } = archiving;
  const last = (await Array.fromAsync(segmentsIn(files))).at(-1);
  if (last !== undefined && last.manifest.log !== eventLog.identity)
    throw new StartRefused(
      `The archive is that of the log ${last.manifest.log}, but this is ${eventLog.identity}: use another folder or prefix.`,
    );
  const after = last?.manifest.upTo ?? START;
  if (upTo <= after) return undefined;
  const number = (last?.number ?? 0) + 1;
  if (number > SEGMENTS_MAX)
    throw new StartRefused(
      `The archive has ${SEGMENTS_MAX} segments, and can have no more: begin another folder or prefix.`,
    );
  await using scratch = await openScratch();
  const manifest = await exportLog({ fileBytesMax: FILE_BYTES_MAX, ...archiving }, scratch.folder, {
    ...{ after, upTo, withKeys: false },
  });
  demandContinued(last?.manifest, manifest);
  for (const { name } of manifest.files)
    await copy(files, { from: join(scratch.folder, name), to: pathIn(number, name) });
  await copy(files, { from: join(scratch.folder, MANIFEST), to: pathIn(number, MANIFEST) });
  return { number, manifest, files: manifest.files.length };
};

/** The chain of the log may contradict what was archived before: then one of them was changed. */
export const demandContinued = (before: SignedManifest | undefined, next: SignedManifest): void => {
  const from = before?.chain.after ?? { count: 0, head: GENESIS.toString('hex') };
  const { count, head } = next.chain.before;
  if (next.after !== (before?.upTo ?? START) || count !== from.count || head !== from.head)
    throw new StartRefused(
      `The events after position ${next.after} do not continue the archive, whose last is at ${before?.upTo ?? START}: one of them was changed.`,
    );
};

/** Written, and read again: what an archive keeps for years must be there. */
const copy = async (
  files: PublishedFiles,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> => {
  const content = await readFile(from);
  await files.write(to, content);
  const kept = await files.read(to);
  if (kept === undefined || sha256Of(kept) !== sha256Of(content))
    throw new Error(`${to} of the archive is not as it was written: repeat the command.`);
};
