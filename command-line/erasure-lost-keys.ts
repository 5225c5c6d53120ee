import type { LogIdentity, UserId } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { openPool } from '#shared/database/pool.ts';
import { openErasureList } from '#shared/erasure/erasure-list.ts';
import { findLostKeys } from '#shared/erasure/lost-keys.ts';
import type { OfAnother } from '#shared/event-log/event-log.ts';
import { spanText } from '#shared/format.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import type { Command } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { eraseListed, withErasures } from './erasure.ts';
import { openInstallation } from './installation/installation.ts';
import { untilStopped } from './log-renew.ts';
import { number } from './output/progress.ts';
import type { Terminal } from './terminal.ts';

export const erasureLostKeys: Command = {
  name: 'erasure lost-keys',
  summary:
    'Lists persons whose keys are missing, for example after the database was lost. --erase erases them permanently.',
  positionals: [],
  options: {
    erase: {
      type: 'boolean',
      description: 'With Annals stopped: puts them on the erasure list, and erases them.',
    },
    log: {
      type: 'string',
      placeholder: '<identity>',
      description:
        'With --erase: takes this log over from another installation, whose database is lost. Without --erase, the command shows its identity.',
    },
  },
  examples: [
    'erasure lost-keys',
    'erasure lost-keys --erase',
    'erasure lost-keys --erase --log 7e6f2c0a-4d15-4b7e-9a53-0c1f5b6d2e84',
  ],
  async run({ flags, values }, terminal) {
    const isErasing = flags.has('erase');
    const named = values.get('log')?.[0];
    if (named !== undefined && !isErasing) throw new UsageError('--log goes with --erase');
    const { identity, ofAnother, lost } = await look(terminal, { isErasing, named });
    const shown = ofAnother && describe(identity, ofAnother, terminal.clock.nowMs());
    if (isErasing && shown && named === undefined) throw new StartRefused(shown.join(' '));
    for (const line of shown ?? []) await terminal.write(line);
    if (isErasing) return erase(terminal, lost, ofAnother && identity);
    for (const userId of lost) await terminal.write(`user ${userId}`);
    if (lost.length === 0) await terminal.write(NONE_LOST);
  },
};

const NONE_LOST = 'The key of every person in the log is in the database, or was destroyed.';

type Looking = { readonly isErasing: boolean; readonly named: string | undefined };
type Seen = {
  readonly identity: LogIdentity;
  readonly ofAnother: OfAnother | undefined;
  readonly lost: readonly UserId[];
};

/** Finds the persons without writing anything, and checks all that an erasure needs, if there will be one. */
const look = async (terminal: Terminal, { isErasing, named }: Looking): Promise<Seen> => {
  await using installation = await openInstallation(terminal, { looksOnly: true });
  const { config, databaseUrl, eventLog } = installation;
  const { identity, ofAnother } = eventLog;
  if (named !== undefined && named !== identity)
    throw new StartRefused(
      `The event log of EVENT_LOG_URL is ${identity}, and not ${named}: nothing was changed.`,
    );
  await using pool = openPool({
    url: databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: 1,
  });
  const erasures = openErasureList(config.audit.dir);
  const lost = await findLostKeys({ pool, eventLog, erasures }, terminal.signal);
  if (isErasing && (ofAnother === undefined || named !== undefined)) {
    if (lost.length > 0 || ofAnother) await untilStopped(pool);
    await using _keys = await openPostgresKeyStore({ pool, masterKey: await openMasterKey(config) });
  }
  return { identity, ofAnother, lost };
};

const erase = async (
  terminal: Terminal,
  lost: readonly UserId[],
  takesOver: LogIdentity | undefined,
): Promise<void> =>
  withErasures(terminal, { takesOver }, async (erasing) => {
    if (takesOver !== undefined) await terminal.write('It belongs to this installation now.');
    if (lost.length === 0) return terminal.write(NONE_LOST);
    const at = new Date(terminal.clock.nowMs()).toISOString();
    await erasing.erasures.note(lost.map((userId) => ({ userId, at, event: null })));
    await eraseListed(erasing);
    await terminal.write(
      `${number(lost.length)} persons without a key were erased: the resulting reactions run once Annals is running.`,
    );
  });

/** An operator whose database is lost has stopped everything, and restored what there is, before. */
const RECENT_S = 3_600;

const describe = (
  identity: LogIdentity,
  { owner, prefix, newestAt }: OfAnother,
  nowMs: number,
): readonly string[] => {
  const names = prefix === undefined ? 'without a prefix' : `with EVENT_LOG_PREFIX ${prefix}`;
  const agoS = newestAt && Math.max(0, nowMs - newestAt.getTime()) / 1_000;
  const warning =
    agoS !== undefined && agoS < RECENT_S
      ? ': if that installation is alive, leave its log alone, and set another EVENT_LOG_PREFIX here'
      : '';
  return [
    `The event log ${identity}, ${names}, belongs to another installation${owner === undefined ? '' : `, ${owner}`}.`,
    agoS === undefined
      ? 'It has no events.'
      : `Its newest event is of ${newestAt?.toISOString()}, ${spanText(agoS)} ago${warning}.`,
    `If the database of that installation is lost, and all of its processes are stopped, \`npm run annals -- erasure lost-keys --erase --log ${identity}\` takes the log over.`,
  ];
};
