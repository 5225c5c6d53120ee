import type { Demo } from '#kernel/demo/demo.ts';
import { exampleKind } from '#kernel/registry/example-kind.ts';
import { loadConfig } from '#shared/process/config.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { type Command, type Given, numberOf } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { ACCESS_OPTIONS, readTokenRequest, requestToken } from '../token.ts';
import { UsageError } from '../usage-error.ts';
import { openAnnalsByHttp } from './annals-by-http.ts';
import { type Filling, fill, goOn } from './fill.ts';
import { isMade } from './make-integrations.ts';

const SEED = 1;
const SEED_MAX = 999_999;
const ITEMS = 40;
const ITEMS_MAX = 2_000;

export const demo: Command = {
  name: 'demo',
  summary: 'Fills the running system with people, {path} and webhooks.',
  positionals: [],
  options: {
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: `Which demo: the same number makes the same, another one more (${SEED}).`,
    },
    '{path}': { type: 'string', placeholder: '<number>', description: `How many {path} (${ITEMS}).` },
    traffic: {
      type: 'string',
      placeholder: '<duration>',
      description: 'How long people go on reading and writing then, such as 10m; 0s for not at all (20s). Ctrl+C ends it.',
    },
    ...ACCESS_OPTIONS,
    yes: { type: 'boolean', description: 'Also in a production, or on another machine.' },
  },
  examples: ['demo', 'demo --{path} 200 --traffic 10m', 'demo --seed 2 --traffic 0s'],
  async run(given, terminal) {
    const filling = await prepare(given, terminal);
    const { signal, complain } = terminal;
    try {
      const { annals, seed, planned } = filling;
      await ((await isMade(annals.send, seed, planned)) ? goOn(filling) : fill(filling));
    } catch (error) {
      if (!signal.aborted || error instanceof StartRefused) throw error;
      terminal.rewrite?.('');
      complain('Stopped before the end: run the same again, and it goes on from there.');
    }
  },
};

const prepare = async (given: Given, terminal: Terminal): Promise<Filling> => {
  const seed = numberOf(given, 'seed', { minimum: 1, maximum: SEED_MAX }) ?? SEED;
  const count = numberOf(given, exampleKind(terminal.domain).path, { minimum: 1, maximum: ITEMS_MAX }) ?? ITEMS;
  const durationGiven = given.values.get('traffic')?.at(-1);
  const trafficMs = durationGiven === undefined ? undefined : millisecondsOf(durationGiven);
  const { demo } = await loadDemo(terminal);
  const { environment, publicUrl } = loadConfig(terminal.environment);
  if (environment === 'production' && !given.flags.has('yes')) throw new StartRefused(IN_PRODUCTION);
  const request = await readTokenRequest(given, terminal);
  if (!isHere(request.url) && !given.flags.has('yes')) throw new StartRefused(`${request.url} ${ELSEWHERE}`);
  const annals = await openAnnalsByHttp({ url: request.url, requestToken: () => requestToken(request), signal: terminal.signal });
  // Where a browser finds it, which may not be where this program does, such as inside a network of containers.
  const shownUrl = environment === 'production' ? publicUrl : request.url;
  return { annals, shownUrl, terminal, seed, planned: demo(seed, count), trafficMs };
};

const loadDemo = ({ demo, domain }: Terminal): Promise<{ readonly demo: Demo }> => {
  if (demo === undefined)
    throw new StartRefused(`${domain.name} has no demo: write one (#kernel/demo/demo.ts), and give it to start() in main.ts as { demo }.`);
  return demo();
};

const IN_PRODUCTION =
  'NODE_ENV is production, and everybody there would see what a demo makes: start a system of its own for it (DATA_DIR=.demo npm start), or say --yes.';
const ELSEWHERE = 'is not on this machine, and everybody there would see what a demo makes: say --yes if that is meant.';

const isHere = (url: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

const millisecondsOf = (text: string): number => {
  const [, count, unit] = /^(\d{1,4})([smh])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError(`--traffic must be a duration such as 30s, 10m or 1h, and is “${text}”`);
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
};
