import { setTimeout as delay } from 'node:timers/promises';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Acting, PlannedDemo } from '#kernel/demo/demo.ts';
import { randomFrom } from '#kernel/demo/random.ts';
import { readFirstMinute } from '#process/first-minute-file.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { createEmailHash } from '#shared/persons/email-hash.ts';
import { migrateAccounts, selectPersonByEmail } from '../../auth/persons/person-table.ts';
import { type CommandSide, withCommandSide } from '../installation/command-side.ts';
import { openInstallation } from '../installation/installation.ts';
import type { Terminal } from '../terminal.ts';
import { type Cast, createStage } from './stage.ts';
import type { Wanted } from './wanted.ts';

/** Lets the people of a running demo continue for a while. */
export const goOn = async (
  wanted: Wanted & { readonly trafficMs: number },
  terminal: Terminal,
): Promise<void> => {
  const { config, planned, seed, trafficMs } = wanted;
  const { signal, rewrite, complain } = terminal;
  await using installation = await openInstallation(terminal);
  const url = wanted.url ?? (await readFirstMinute(config.dataDir))?.url ?? config.publicUrl;
  const emailHash = createEmailHash(await openMasterKey(config));
  let done = 0;
  const onStep = (steps: number, leftMs: number): void => {
    done = steps;
    rewrite?.(`${steps} actions, ${Math.ceil(leftMs / 1_000)} s left`);
  };
  complain(`Generating activity for ${trafficMs / 1_000} s; Ctrl+C ends it.`);
  await withCommandSide(terminal, installation, (side) =>
    keepTraffic({ side, seed, planned, url, emailHash, durationMs: trafficMs, signal, onStep }),
  );
  rewrite?.('');
  complain(`${done} actions were performed.`);
};

type Traffic = {
  readonly side: CommandSide;
  readonly seed: number;
  readonly planned: PlannedDemo;
  /** The address of the running system. */
  readonly url: string;
  emailHash(email: string): string;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Called after each step. */
  onStep(steps: number, leftMs: number): void;
};

const PAUSE_MIN_MS = 100;
const PAUSE_SPREAD_MS = 600;
const TIMEOUT_MS = 10_000;
/** Busy and quiet times alternate, as with real people. */
const WAVE_MS = 240_000;
const quietAt = (nowMs: number): number => 1.05 + Math.sin((2 * Math.PI * nowMs) / WAVE_MS);

/** Lets the people of the demo continue. Ends early on a signal. */
const keepTraffic = async (traffic: Traffic): Promise<void> => {
  const { side, seed, planned, url, durationMs, signal, onStep } = traffic;
  const endsAtMs = performance.now() + durationMs;
  // A new seed each time, so that it does not repeat itself.
  const random = randomFrom(Date.now());
  const cast = await readCast(traffic);
  const people = [...cast].map(([place, person]) => ({ place, ...person }));
  const { send } = createStage({ ...side, seed, cast });
  for (let steps = 1; performance.now() < endsAtMs && !signal.aborted; steps += 1) {
    await planned.act({ send: overtakable(send), random, people, read: (path) => read(new URL(path, url)) });
    onStep(steps, Math.max(0, endsAtMs - performance.now()));
    await delay(PAUSE_MIN_MS + random.below(PAUSE_SPREAD_MS) * quietAt(performance.now()), undefined, {
      signal,
    }).catch(() => {});
  }
};

/** Tolerates a change or a deletion by somebody else between reading and writing. */
const overtakable =
  (send: Acting['send']): Acting['send'] =>
  (...sent) =>
    send(...sent).catch((error: unknown) => {
      if (error instanceof StartRefused) return { id: 0, version: 0 };
      throw error;
    });

const readCast = async ({ side: { pool }, planned, emailHash }: Traffic): Promise<Cast> => {
  await migrateAccounts(pool);
  const cast: Cast = new Map();
  for (const [place, { email }] of planned.people.entries()) {
    const person = await selectPersonByEmail(pool, emailHash(email));
    if (person !== undefined) cast.set(place, { id: person.userId, role: person.role });
  }
  return cast;
};

const read = async (address: URL): Promise<unknown> => {
  const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (cause: unknown) => {
      throw new StartRefused(
        `Annals does not answer at ${address.origin}: start it with npm run demo, or give its address with --url.`,
        {
          cause,
        },
      );
    },
  );
  if (!response.ok) throw new StartRefused(`GET ${address.pathname} was refused: ${response.status}.`);
  return response.json();
};
