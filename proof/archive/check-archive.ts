import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import type { ExportedEvent } from '../export/cloud-event.ts';
import { MANIFEST } from '../export/plan.ts';
import { demandSigner, openExport, readEvents } from '../export/read-export.ts';
import { demandContinued } from './archive-log.ts';
import { openScratch, pathIn, type Segment, segmentsIn } from './segments.ts';

type Checking = {
  readonly files: Pick<PublishedFiles, 'read'>;
  /** A signing key that is known from elsewhere. */
  readonly key: string | undefined;
  readonly signal: AbortSignal;
  onEvents(events: readonly ExportedEvent[]): Promise<void> | void;
};

/**
 * Checks all segments without the log: signatures and keys, the digest of each file, the hash of each event,
 * and that each segment continues the one before. Throws with the first thing that is wrong.
 */
export const checkArchive = async ({
  files,
  key,
  signal,
  onEvents,
}: Checking): Promise<readonly Segment[]> => {
  const checked: Segment[] = [];
  for await (const segment of segmentsIn(files)) {
    await using scratch = await openScratch();
    const { number, manifest } = segment;
    for (const { name } of [...manifest.files, { name: MANIFEST }]) {
      const content = await files.read(pathIn(number, name));
      if (content === undefined) throw new StartRefused(`${pathIn(number, name)} of the archive is missing.`);
      await writeFile(join(scratch.folder, name), content);
    }
    const opened = await openExport(scratch.folder).catch(inSegment(number, scratch.folder));
    if (key !== undefined) demandSigner(opened, key);
    const last = checked.at(-1)?.manifest;
    if (last !== undefined && last.log !== manifest.log)
      throw new StartRefused(`Segment ${number} of the archive is that of another log: ${manifest.log}.`);
    demandContinued(last, manifest);
    await readAll(opened, { signal, onEvents }).catch(inSegment(number, scratch.folder));
    checked.push(segment);
  }
  return checked;
};

const readAll = async (
  opened: Parameters<typeof readEvents>[0],
  { signal, onEvents }: Pick<Checking, 'signal' | 'onEvents'>,
): Promise<void> => {
  for await (const events of readEvents(opened)) {
    signal.throwIfAborted();
    await onEvents(events);
  }
};

/** The folder is that of a copy, which nobody knows. */
const inSegment =
  (number: number, folder: string) =>
  (error: unknown): never => {
    if (!(error instanceof StartRefused)) throw error;
    const message = error.message.replaceAll(folder, `segment ${number} of the archive`);
    throw new StartRefused(message, { cause: error });
  };
