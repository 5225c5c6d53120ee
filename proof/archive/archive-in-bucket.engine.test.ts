import { expect, test } from 'vitest';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import { createAuditedLog } from '../../test/engines/audited-log.ts';
import { s3Missing, startS3 } from '../../test/engines/s3.ts';
import { archiveLog } from './archive-log.ts';
import { checkArchive } from './check-archive.ts';

const { signal } = new AbortController();

if (s3Missing !== undefined) test.skip(`an archive in a bucket: ${s3Missing}`, () => {});
else
  test('an archive in a bucket continues, and is checked without the log', async () => {
    await using opened = new AsyncDisposableStack();
    const audited = opened.use(await createAuditedLog());
    const s3 = opened.use(await startS3());
    const open = async () =>
      opened.use(await openPublishedFiles(s3.url({ prefix: 'archive' }), 'the archive', { isPrivate: true }));
    const add = async () =>
      archiveLog(
        { ...audited, files: await open(), signal, onProgress: () => {}, fileBytesMax: 4_000 },
        await audited.eventLog.head(),
      );
    await audited.append(30);
    await audited.prove();
    const first = await add();
    await audited.append(5);
    await audited.prove();
    const second = await add();
    expect(second?.manifest.chain.before).toEqual(first?.manifest.chain.after);
    const streams: string[] = [];
    const segments = await checkArchive({
      ...{ files: await open(), key: first?.manifest.key, signal },
      onEvents: (events) => void streams.push(...events.map(({ stream }) => stream)),
    });
    expect([segments.length, streams.length]).toEqual([2, second?.manifest.chain.after.count]);
    expect(await s3.keys()).toContain('archive/segments/000002/manifest.json');
  });
