import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Demo } from '#kernel/demo/demo.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import { loadConfig } from '#process/load-config.ts';
import { type Given, numberOf } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Terminal } from '../terminal.ts';

export const SEED = 1;
const SEED_MAX = 999_999;
export const ITEMS = 40;
const ITEMS_MAX = 2_000;

/** Which demo to make, and for how long its people continue. */
export type Wanted = Awaited<ReturnType<typeof readWanted>>;

export const readWanted = async (given: Given, terminal: Terminal) => {
  const seed = numberOf(given, 'seed', { minimum: 1, maximum: SEED_MAX }) ?? SEED;
  const count =
    numberOf(given, exampleKind(terminal.domain).path, { minimum: 1, maximum: ITEMS_MAX }) ?? ITEMS;
  const duration = given.values.get('traffic')?.at(-1);
  const trafficMs = duration === undefined ? undefined : millisecondsOf(duration);
  const { demo: plan } = await loadDemo(terminal);
  const config = loadConfig(terminal.environment);
  const isProduction = config.environment === 'production';
  if (isProduction && !given.flags.has('yes')) throw new StartRefused(IN_PRODUCTION);
  const starts = !isProduction && !given.flags.has('fill-only');
  return {
    seed,
    starts,
    trafficMs,
    config,
    isProduction,
    planned: plan(seed, count),
    url: given.values.get('url')?.at(-1),
  };
};

const loadDemo = ({ demo: load, domain }: Terminal): Promise<{ readonly demo: Demo }> => {
  if (load === undefined)
    throw new StartRefused(
      `${domain.name} has no demo: write one (#kernel/demo/demo.ts), and pass it to start() in main.ts as { demo }.`,
    );
  return load();
};

const IN_PRODUCTION =
  'NODE_ENV is production, where everybody would see the demo: run npm run demo in development, or add --yes for an empty installation.';

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

const millisecondsOf = (text: string): number => {
  const [, count, unit] = /^(\d{1,4})([smh])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`--traffic must be a duration such as 30s, 10m or 1h, but is “${text}”`);
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
};
