import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { PlannedDemo } from '#kernel/demo/demo.ts';
import { inSecondTerminal } from '#process/banner.ts';
import { type DemoAccess, readDemoAccess, writeDemoAccess } from '#process/first-minute-file.ts';
import { openPool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import { demandStopped } from '../../proof/export/switch-log.ts';
import type { Command } from '../arguments/command.ts';
import { openClients } from '../installation/client-store.ts';
import { withCommandSide } from '../installation/command-side.ts';
import { type Installation, openInstallation } from '../installation/installation.ts';
import type { Terminal } from '../terminal.ts';
import { clockOf, fill } from './fill.ts';
import { goOn } from './go-on.ts';
import { receiverUrlOf, startReceiver } from './receiver.ts';
import { clientIdOf } from './stage.ts';
import { ITEMS, readWanted, SEED, type Wanted } from './wanted.ts';

export const demo: Command = {
  name: 'demo',
  summary: 'Fills a new installation with weeks of sample activity, and starts it in development.',
  positionals: [],
  options: {
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: `Seed of the demo: the same seed creates the same demo (${SEED}).`,
    },
    '{path}': { type: 'string', placeholder: '<number>', description: `How many {path} (${ITEMS}).` },
    'fill-only': {
      type: 'boolean',
      description: 'Does not start Annals afterwards. In production, demo never starts it.',
    },
    traffic: {
      type: 'string',
      placeholder: '<duration>',
      description: 'Continues the activity in a running demo for this long, such as 10m. Ctrl+C ends it.',
    },
    url: {
      type: 'string',
      placeholder: '<url>',
      description: 'The URL of Annals, for --traffic, if it differs from that of the settings.',
    },
    yes: { type: 'boolean', description: 'Also in production.' },
  },
  examples: ['demo', 'demo --{path} 200 --seed 2', 'demo --traffic 10m'],
  async run(given, terminal) {
    const wanted = await readWanted(given, terminal);
    if (wanted.trafficMs !== undefined) return goOn({ ...wanted, trafficMs: wanted.trafficMs }, terminal);
    try {
      const { isRunning } = await make(wanted, terminal);
      if (!isRunning && wanted.starts) await serve(wanted, terminal);
    } catch (error) {
      if (!terminal.signal.aborted || error instanceof StartRefused) throw error;
      terminal.rewrite?.('');
      terminal.complain(
        `Stopped before the end: remove ${wanted.config.dataDir}, and run the same command again.`,
      );
    }
  },
};

const NOT_FRESH =
  'This installation already has events, and those of a demo are weeks old: use a new folder, as in DATA_DIR=.data/demo npm run demo, or an empty database.';

/** Fills an installation without events; for one that has this demo, only shows how to look at it. */
const make = async (wanted: Wanted, terminal: Terminal): Promise<{ readonly isRunning: boolean }> => {
  await using installation = await openInstallation(terminal, { mayMake: true });
  await using pool = openPool({
    url: installation.databaseUrl,
    applicationName: 'annals-command-line',
    connectionsMax: 1,
  });
  const isFresh = (await installation.eventLog.head()) === START;
  if (isFresh) {
    await demandStopped(pool);
    await fillAndReport(wanted, terminal, installation);
    return { isRunning: false };
  }
  const isRunning = await demandStopped(pool).then(() => false, unlessRefused);
  if (!(await hasDemo(wanted, terminal, installation))) throw new StartRefused(NOT_FRESH);
  await terminal.write(`Demo ${wanted.seed} already exists: nothing was created again.`);
  const access = await readDemoAccess(wanted.config.dataDir);
  if (isRunning || !wanted.starts)
    await terminal.write(
      `\n${howToLook({ ...shownOf(wanted), password: access?.administrator.password, lookAt: access?.lookAt })}`,
    );
  return { isRunning };
};

const unlessRefused = (error: unknown): true => {
  if (!(error instanceof StartRefused)) throw error;
  return true;
};

const hasDemo = (
  { seed, planned }: Wanted,
  terminal: Terminal,
  installation: Installation,
): Promise<boolean> =>
  withCommandSide(terminal, installation, async (side) => {
    const last = planned.clients.at(-1) ?? planned.clients[0];
    return (await (await openClients(side)).find(clientIdOf(seed, last.clientId))) !== undefined;
  });

const fillAndReport = async (
  wanted: Wanted,
  terminal: Terminal,
  installation: Installation,
): Promise<void> => {
  const { config, isProduction, planned, seed } = wanted;
  const clock = clockOf(planned);
  const receiverPort = await freePort();
  const receiverUrl = isProduction ? undefined : receiverUrlOf(receiverPort);
  const administrator = await withCommandSide({ ...terminal, clock }, installation, (side) =>
    fill({ side, clock, terminal, seed, planned, receiverUrl }),
  );
  const lookAt = planned.lookAt();
  if (!isProduction) await writeDemoAccess(config.dataDir, { administrator, receiverPort, lookAt });
  await terminal.write(summary(planned, seed));
  // The start prints it otherwise.
  if (!wanted.starts)
    await terminal.write(`\n${howToLook({ ...shownOf(wanted), password: administrator.password, lookAt })}`);
};

const shownOf = ({ config, planned }: Wanted): Pick<Shown, 'planned' | 'url' | 'dataDir'> => ({
  planned,
  url: config.publicUrl,
  dataDir: config.dataDir,
});

/** Starts Annals in this process, with the receiver of the webhooks beside it. */
const serve = async ({ config }: Wanted, terminal: Terminal): Promise<void> => {
  const access = await readDemoAccess(config.dataDir);
  if (access !== undefined && !(await startReceiver(access.receiverPort)))
    terminal.complain(
      `Port ${access.receiverPort} is in use, so the webhooks of the demo cannot be delivered.`,
    );
  await terminal.serve?.();
};

type Shown = {
  readonly planned: PlannedDemo;
  readonly url: string;
  readonly dataDir: string;
  /** Undefined if it was printed before: it is stored nowhere. */
  readonly password: string | undefined;
  readonly lookAt: DemoAccess['lookAt'] | undefined;
};

const summary = ({ days, people, clients, summary: lines }: PlannedDemo, seed: number): string =>
  [
    `Demo ${seed} is ready: ${people.length} people, and ${days / 7} weeks of their activity.`,
    ...lines.map((line) => `  ${line}`),
    `  ${clients.length} clients, and webhooks, one of them to an address that does not respond`,
  ].join('\n');

const howToLook = ({ url, dataDir, planned, password, lookAt }: Shown): string => {
  const { email } = planned.people[0];
  const base = url.replace(/\/+$/, '');
  const secret =
    password === undefined
      ? `. The password was shown when the demo was created; to choose another: ${inSecondTerminal(dataDir, `npm run annals -- password-link ${email}`)}`
      : `, with the password ${password}`;
  return [
    `Sign in at ${base}/console as ${email}, an administrator${secret}`,
    ...(lookAt === undefined ? [] : [`Look first at ${base}${lookAt.path}: ${lookAt.says}.`]),
  ].join('\n');
};
