import { pino } from 'pino';
import type { LogIdentity, UserId } from '#kernel/base/brands.ts';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { openBlobs } from '#process/engines/open-blobs.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { applyErasures } from '#shared/erasure/apply.ts';
import { type ErasureList, openErasureList } from '#shared/erasure/erasure-list.ts';
import { stayingWithout } from '#shared/erasure/references.ts';
import { reportErasure } from '#shared/erasure/report.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import type { Log } from '#shared/log.ts';
import { Registry } from '#shared/prometheus.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';
import { startCommandService } from '../command/service.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { type Installation, openInstallation } from './installation/installation.ts';
import { number } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

export const erasureReport: Command = {
  name: 'erasure report',
  summary: 'Reports what was erased of a deleted user, and what remains.',
  positionals: ['<user>'],
  options: { json: { type: 'boolean', description: 'Prints everything as one line of JSON.' } },
  examples: ['erasure report 114959438452129'],
  run: ({ positionals: [text = ''], flags }, terminal) =>
    withErasures(terminal, {}, async (erasing) => {
      const userId = pathId(text) as UserId | undefined;
      if (userId === undefined) throw new UsageError(`<user> must be the id of a user, but is “${text}”`);
      await using blobs = await openBlobs({ url: erasing.config.blobUrl, health: { add: () => {} } });
      const report = await reportErasure({ ...erasing, blobs }, userId, terminal.signal);
      if (report === undefined) throw new StartRefused(`There is no deleted user ${userId}.`);
      for (const line of flags.has('json') ? [JSON.stringify(report)] : reportLines(report, terminal.domain))
        await terminal.write(line);
      if (!report.isDone)
        throw new StartRefused(
          'The erasure is not complete yet: see what is left, and check again in a moment.',
        );
    }),
};

const reportLines = (report: ErasureReport, domain: Domain): readonly string[] => {
  const { userId, asked, listedAt, keyDestroyedAt, sealed, followed, parts, places, kept } = report;
  const staying = stayingWithout(domain).map(({ name, says }) => `${number(kept[name] ?? 0)} ${says}`);
  return [
    asked
      ? `User ${userId} was deleted at ${asked.at} by ${asked.actor ?? 'an unknown actor'}${asked.client ? `, through ${asked.client}` : ''} (event ${asked.event}).`
      : `The log does not say that user ${userId} was deleted.`,
    `On the erasure list: ${listedAt ?? 'no'}. Key destroyed: ${keyDestroyedAt ?? 'no'}.`,
    `Events that nobody can decrypt any more: ${counted(sealed)}.`,
    `Deleted with them: ${counted(followed)}.`,
    ...parts.map(({ part, left }) => `  ${left === 0 ? 'erased' : `${number(left)} left`}  ${part}`),
    'Places where their data could be:',
    ...places.map(placeLine),
    `Stays: ${staying.length === 0 ? 'nothing' : staying.join(', ')}.`,
  ];
};

const placeLine = ({ place, verdict, rows, left, says }: ErasureReport['places'][number]): string => {
  const counts = left > 0 ? ` (${number(left)} left)` : rows === null ? '' : ` (${number(rows)})`;
  return `  ${verdict.padEnd(VERDICT_CHARACTERS)}  ${place}${counts}: ${says}`;
};

/** The longest verdict is `unreachable`. */
const VERDICT_CHARACTERS = 11;

const counted = (counts: ErasureReport['sealed']): string =>
  counts.length === 0 ? 'none' : counts.map(({ type, events }) => `${number(events)} ${type}`).join(', ');

export const erasureList: Command = {
  name: 'erasure list',
  summary: 'Lists erased users by id, oldest first.',
  positionals: [],
  options: { json: { type: 'boolean', description: 'Prints each as one line of JSON.' } },
  examples: ['erasure list'],
  run: ({ flags }, terminal) =>
    withErasures(terminal, {}, async ({ erasures }) => {
      for (const erasure of await erasures.read()) {
        const { userId, at, event } = erasure;
        await terminal.write(
          flags.has('json')
            ? JSON.stringify(erasure)
            : `${at}  user ${userId}${event === null ? '' : `  by event ${event}`}`,
        );
      }
    }),
};

export const erasureApply: Command = {
  name: 'erasure apply',
  summary: 'Erases users again that a restored backup brought back. Every start does this, too.',
  positionals: [],
  options: {},
  examples: ['erasure apply'],
  run: (_given, terminal) =>
    withErasures(terminal, {}, async (erasing) => {
      const restored = await eraseListed(erasing);
      const listed = await erasing.erasures.read();
      await terminal.write(
        `${number(listed.length)} on the erasure list ${erasing.erasures.path}; ${whoCameBack(restored.length)}.`,
      );
    }),
};

/**
 * Destroys the keys of users on the list, and records their deletion. Returns those who had a key, or none
 * here.
 */
export const eraseListed = async (erasing: Erasing): Promise<readonly UserId[]> => {
  const restored = await applyErasures(erasing);
  await using blobs = await openBlobs({ url: erasing.config.blobUrl, health: { add: () => {} } });
  // The start of the command side deletes them again if the log does not record it.
  await using _gateway = await startCommandService({ ...erasing, blobs, metrics: new Registry() }, []);
  return restored;
};

const whoCameBack = (count: number): string =>
  count === 0
    ? 'none of them had come back'
    : `${number(count)} had come back, and were erased again: the resulting reactions run once Annals is running`;

export type Erasing = Pick<Installation, 'config' | 'eventLog'> & {
  readonly domain: Domain;
  readonly clock: Clock;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly keys: KeyStore;
  readonly erasures: ErasureList;
  readonly log: Log;
};

const CONNECTIONS_MAX = 4;

/** Works on erasures of the installation, running or not. */
export const withErasures = async (
  terminal: Terminal,
  options: { readonly takesOver?: LogIdentity | undefined },
  work: (erasing: Erasing) => Promise<void>,
): Promise<void> => {
  await using installation = await openInstallation(terminal, options);
  const { config, databaseUrl, eventLog } = installation;
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: CONNECTIONS_MAX,
  });
  const masterKey = await openMasterKey(config);
  await using keys = await openPostgresKeyStore({ pool, masterKey });
  const { domain, clock } = terminal;
  await work({
    ...{ domain, clock, config, eventLog, pool, masterKey, keys },
    erasures: openErasureList(config.audit.dir),
    log: pino({ level: 'silent' }),
  });
};
