import { readFile } from 'node:fs/promises';
import { streamName } from '#kernel/base/events/streams.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { anyWebhook } from '#kernel/webhook/webhook.ts';
import { isPostgres, openConfiguredEventLog } from '#process/engines/open-event-log.ts';
import { type AuthenticEvents, openAuthenticEvents } from '#shared/authentic-events/authentic-events.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import type { HeldLeases } from '#shared/database/lease/lease.ts';
import { openPool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { type LogOwner, readLogOwner } from '#shared/event-log/owner/owner.ts';
import { streamReferencesOf } from '#shared/events/stream-references.ts';
import { holdFollowers } from '#shared/follower/hold-followers.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { PROCESS_MANAGER, REACTIONS } from '#shared/process-manager/followers.ts';
import { Stopped } from '#shared/projection/catch-up.ts';
import { demandServedDomain } from '#shared/served-domain/served-domain.ts';
import { untilExecuted } from '../command/process-manager/executed.ts';
import { LEASE } from '../command/process-manager/fence.ts';
import { createKeyCopy } from '../proof/copy/copy-keys.ts';
import { type CopiedStreams, copyStreams } from '../proof/copy/copy-streams.ts';
import { wantedStreams } from '../proof/copy/wanted-streams.ts';
import type { Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { openInstallation } from './installation/installation.ts';
import { number, showProgress } from './output/progress.ts';
import { recordCommand } from './record-command.ts';
import type { Terminal } from './terminal.ts';

/**
 * Copies the streams that a file names into the log of another cell, while both are in use. The reactions and
 * timers of the other cell stand by meanwhile: what followed from a copied event is among what is copied.
 */
export const copySomeStreams = async (given: Given, url: string, terminal: Terminal): Promise<void> => {
  const { flags } = given;
  if (flags.has('switch')) throw new UsageError('--switch copies the whole log: leave out --streams');
  const list = await readFile(optionOf(given, 'streams') ?? '', 'utf8');
  const { domain, clock, signal } = terminal;
  await using installation = await openInstallation(terminal);
  const { config, databaseUrl, eventLog: source, isDense } = installation;
  await using pool = openPool({ url: databaseUrl, ...CONNECTIONS });
  await recordCommand({ domain, pool, command: 'log copy' });
  await using other = openPool({ url: otherDatabase(given, url), ...CONNECTIONS });
  const prefix = optionOf(given, 'to-prefix') ?? config.eventLogPrefix;
  const owner = await readLogOwner(other);
  await demandServedDomain(other, domain);
  const masterKey = await openMasterKey(config);
  await using _keys = await openPostgresKeyStore({ pool, masterKey });
  await using _otherKeys = await openPostgresKeyStore({ pool: other, masterKey }).catch(explainKeys);
  // The database of the other cell says since when its events are authentic.
  await using authentic = openAuthenticEvents({
    ...{ pool: other, masterKey, clock: REAL_TIME, log: SILENT, isReader: true },
  });
  await using target = await openTarget(url, { databaseUrl, source, prefix, owner, authentic });
  await using standingBy = new AsyncDisposableStack();
  let held: HeldLeases | undefined;
  using checking = showProgress(terminal, 'Checking', isDense);
  using shown = showProgress(terminal, 'Copying', isDense);
  const print = (line: string) =>
    signal.aborted ? Promise.resolve(terminal.complain(line)) : terminal.write(line);
  const copied = await copyStreams({
    ...{ source, target, signal, order: isPostgres(url) ? 'batches' : 'one by one' },
    wanted: wantedStreams({ domain, list, withOwned: flags.has('with-owned') }),
    referencesOf: streamReferencesOf(domain),
    isLast: (stream) => stream.startsWith(streamName(anyWebhook.name, '')),
    copyKeys: createKeyCopy({ from: pool, to: other, masterKey }),
    async standBy() {
      const names = [PROCESS_MANAGER, REACTIONS, LEASE];
      held = standingBy.use(await holdFollowers(other, names, { clock }));
    },
    demand() {
      if (held?.lost.aborted !== false)
        throw new StartRefused(
          'The database of the other cell did not answer in time. The copied events stay, and the same command continues.',
        );
    },
    async followed(position) {
      const pending = await untilExecuted(pool, position, clock);
      if (pending.length > 0)
        throw new StartRefused(
          `Reactions of this cell lag: ${pending.join(', ')}. Webhooks can only be copied after them. Repeat the command when they have caught up.`,
        );
    },
    onProgress: (step, progress) => (step === 'check' ? checking : shown).onProgress(progress),
    ...(flags.has('follow') && {
      async caughtUp(soFar: CopiedStreams) {
        shown[Symbol.dispose]();
        await print(`${summary(soFar)} New events are copied as they come.`);
        await print(
          'Refuse the writes of these streams at the ingress, wait until none is in progress, then press Ctrl+C.',
        );
      },
    }),
  }).catch(explainStop('The copied events stay, and the same command continues.'));
  shown[Symbol.dispose]();
  await print(`${summary(copied)} They were read back and compared: they are equal.`);
  if (copied.ahead > 0)
    await print(
      `${number(copied.ahead)} streams have further events in the other log that are not in this one.`,
    );
};

const SILENT = { info() {}, warn() {}, error() {} };
const CONNECTIONS = { applicationName: 'annals-command-line', connectionsMax: 4 };

const summary = ({ streams, events, appended }: CopiedStreams): string =>
  `${number(events)} events of ${number(streams)} streams are in the other log, ${number(appended)} of them since this command began.`;

const optionOf = ({ values }: Given, option: string): string | undefined => values.get(option)?.[0];

const otherDatabase = (given: Given, url: string): string => {
  const named = optionOf(given, 'to-database');
  if (named !== undefined) {
    if (!isPostgres(named)) throw new UsageError('--to-database must be a postgres: URL');
    return named;
  }
  if (isPostgres(url)) return url;
  throw new UsageError('--to-database <url> is missing: give the database with the keys of persons');
};

const explainKeys = (error: unknown): never => {
  if (error instanceof MasterKeyMismatch)
    throw new StartRefused(
      `The other cell has another MASTER_KEY: ${error.message}. Set the same one in both cells.`,
      { cause: error },
    );
  throw error;
};

type Opening = {
  readonly databaseUrl: string;
  readonly source: EventLog;
  /** Of the target, if its server is shared. */
  readonly prefix: string;
  readonly owner: LogOwner;
  /** Gives the copied events the MACs of the target. */
  readonly authentic: AuthenticEvents | undefined;
};

/** The log that `--to` names. */
export const openTarget = async (
  url: string,
  { databaseUrl, source, prefix, authentic, owner: { id } }: Opening,
): Promise<EventLog> => {
  const target = await openConfiguredEventLog({
    ...{ eventLogUrl: url, databaseUrl, clock: REAL_TIME, eventLogPrefix: prefix, authentic },
    // The database follows another log until it is switched to this one.
    ...(!isPostgres(url) && { owner: { id, follows: undefined, isOfCopy: true } }),
  }).catch(nameOption);
  if (target.identity !== source.identity) return target;
  await target[Symbol.asyncDispose]();
  throw new StartRefused('--to is the log to copy from: give another one.');
};

/** Errors name the setting that the option will become; this names the option. */
const nameOption = (error: unknown): never => {
  if (!(error instanceof StartRefused)) throw error;
  throw new StartRefused(
    error.message.replaceAll('EVENT_LOG_URL', '--to').replaceAll('EVENT_LOG_PREFIX', '--to-prefix'),
    { cause: error },
  );
};

/** The exit code that shells give a program ended by Ctrl+C. */
const INTERRUPTED = 130;

export const explainStop =
  (what: string) =>
  (error: unknown): never => {
    if (error instanceof Stopped) throw new StartRefused(`Stopped. ${what}`, { exitCode: INTERRUPTED });
    throw error;
  };
