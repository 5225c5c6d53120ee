import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import { migrateAudit } from '#shared/audit/migrate.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import { holdLock } from '#shared/database/held-lock.ts';
import { openPool } from '#shared/database/pool.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { archiveLog } from '../proof/archive/archive-log.ts';
import { checkArchive } from '../proof/archive/check-archive.ts';
import { positionOf } from '../proof/at.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { openInstallation } from './installation/installation.ts';
import { explainStop } from './log-copy-streams.ts';
import { harmless } from './output/print-event.ts';
import { number, showProgress } from './output/progress.ts';
import { recordCommand } from './record-command.ts';

/** A single event may be larger than a file should be. */
const FILE_BYTES_MAX = 128 * 1_048_576;

const openArchive = (place: string): Promise<PublishedFiles> =>
  openPublishedFiles(
    /^[a-z0-9]+:/i.test(place) ? place : pathToFileURL(resolve(place)).href,
    '<folder|s3://…>',
    { isPrivate: true, bytesMax: FILE_BYTES_MAX },
  );

export const logArchive: Command = {
  name: 'log archive',
  summary:
    'Adds the events before a time to an archive in a folder or a bucket, as a signed segment; nothing is removed from the log.',
  positionals: ['<folder|s3://…>'],
  options: {
    before: {
      type: 'string',
      placeholder: '<position|time|cursor>',
      description: 'The end of the segment; it starts where the last one ended.',
    },
  },
  examples: [
    'log archive /archive --before 2026-11-01T00:00:00Z',
    'log archive s3://archive/annals --before 2026-11-01T00:00:00Z',
  ],
  async run({ positionals: [place = ''], values }, terminal) {
    const before = values.get('before')?.[0];
    if (before === undefined)
      throw new UsageError('--before is missing: name the time up to which events are archived');
    await using files = await openArchive(place);
    await using installation = await openInstallation(terminal);
    const { config, databaseUrl, eventLog, isDense } = installation;
    await using pool = openPool({
      url: databaseUrl,
      applicationName: 'annals-command-line',
      connectionsMax: 3,
    });
    await migrateAudit(pool);
    const upTo = await positionOf({ pool, eventLog }, before, '--before');
    const masterKey = await openMasterKey(config);
    await using locked = await holdLock(pool, 'hashtext($1)', 'annals log archive');
    if (locked === undefined)
      throw new StartRefused('Another process archives this log: wait until it has finished.');
    await recordCommand({ domain: terminal.domain, pool, command: 'log archive' });
    using shown = showProgress(terminal, 'Archiving', isDense);
    const added = await archiveLog(
      { pool, eventLog, masterKey, files, signal: terminal.signal, onProgress: shown.onProgress },
      upTo,
    ).catch(explainStop('No segment was added, and the same command begins it again.'));
    shown[Symbol.dispose]();
    if (added === undefined)
      return terminal.write('The archive already has all events before that; nothing was added.');
    const { manifest } = added;
    await terminal.write(
      `Segment ${added.number} has ${number(manifest.count)} events up to position ${manifest.upTo}. Nothing was removed from the log.`,
    );
    await terminal.write(
      `The chain up to there has the head ${manifest.chain.after.head}; the segment is signed by the key ${manifest.key}.`,
    );
  },
};

export const auditArchive: Command = {
  name: 'audit archive',
  summary:
    'Checks an archive of the log with no database and no server, and prints the events of a stream. Exit codes: 0 proven, 1 not proven.',
  positionals: ['<folder|s3://…>'],
  options: {
    key: {
      type: 'string',
      placeholder: '<id>',
      description:
        'A key that you know from another source, such as /audit/keys. Each segment must be signed by it, or by a successor of it.',
    },
    stream: {
      type: 'string',
      placeholder: '<stream>',
      description: 'Prints the events of this stream, such as user-7001, each as one line of JSON.',
    },
  },
  examples: ['audit archive /archive --key=kPrK…', 'audit archive s3://archive/annals --stream user-7001'],
  async run({ positionals: [place = ''], values }, terminal) {
    const [key] = values.get('key') ?? [];
    const [stream] = values.get('stream') ?? [];
    await using files = await openArchive(place);
    const segments = await checkArchive({
      ...{ files, key, signal: terminal.signal },
      async onEvents(events) {
        for (const event of events)
          if (event.stream === stream) await terminal.write(harmless(JSON.stringify(event)));
      },
    });
    const last = segments.at(-1)?.manifest;
    if (last === undefined) throw new StartRefused(`There is no archive in ${place}: it has no segment.`);
    if (stream !== undefined) return;
    await terminal.write(
      `Proven: ${number(last.chain.after.count)} events up to position ${last.upTo}, in ${number(segments.length)} ${segments.length === 1 ? 'segment' : 'segments'}, each of which continues the one before.`,
    );
    if (key === undefined)
      await terminal.write(
        `The key ${last.key} is in the archive itself and proves nothing: compare it with /audit/keys, or give --key.`,
      );
  },
};
