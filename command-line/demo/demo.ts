import { loadConfig } from '#shared/config.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { type Command, type Given, numberOf } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { ACCESS_OPTIONS, readTokenRequest, requestToken } from '../token.ts';
import { UsageError } from '../usage-error.ts';
import { openAnnalsByHttp } from './annals-by-http.ts';
import { type Demo, fill, goOn } from './fill.ts';
import { isMade } from './make-integrations.ts';
import { planDemo } from './plan.ts';

const SEED = 1;
const SEED_MAX = 999_999;
const ARTICLES = 40;
const ARTICLES_MAX = 2_000;

export const demo: Command = {
  name: 'demo',
  summary: 'Fills the running system with people, articles, comments and webhooks, so that there is something to look at.',
  positionals: [],
  options: {
    seed: {
      type: 'string',
      placeholder: '<number>',
      description: `Which demo: the same number makes the same, another one more (${SEED}).`,
    },
    articles: { type: 'string', placeholder: '<number>', description: `How many articles (${ARTICLES}).` },
    traffic: {
      type: 'string',
      placeholder: '<duration>',
      description: 'How long people go on reading and writing then, such as 10m; 0s for not at all (20s). Ctrl+C ends it.',
    },
    ...ACCESS_OPTIONS,
    yes: { type: 'boolean', description: 'Also in a production, or on another machine.' },
  },
  examples: ['demo', 'demo --articles 200 --traffic 10m', 'demo --seed 2 --traffic 0s'],
  async run(given, terminal) {
    const demo = await prepare(given, terminal);
    const { signal, complain } = terminal;
    try {
      await ((await isMade(demo.annals, demo.plan.seed)) ? goOn(demo) : fill(demo));
    } catch (error) {
      if (!signal.aborted || error instanceof StartRefused) throw error;
      terminal.rewrite?.('');
      complain('Stopped before the end: run the same again, and it goes on from there.');
    }
  },
};

const prepare = async (given: Given, terminal: Terminal): Promise<Demo> => {
  const seed = numberOf(given, 'seed', { minimum: 1, maximum: SEED_MAX }) ?? SEED;
  const articles = numberOf(given, 'articles', { minimum: 1, maximum: ARTICLES_MAX }) ?? ARTICLES;
  const durationGiven = given.values.get('traffic')?.at(-1);
  const trafficMs = durationGiven === undefined ? undefined : millisecondsOf(durationGiven);
  const { environment, publicUrl } = loadConfig(terminal.environment);
  if (environment === 'production' && !given.flags.has('yes')) throw new StartRefused(IN_PRODUCTION);
  const request = await readTokenRequest(given, terminal);
  if (!isHere(request.url) && !given.flags.has('yes')) throw new StartRefused(`${request.url} ${ELSEWHERE}`);
  const annals = await openAnnalsByHttp({ url: request.url, requestToken: () => requestToken(request), signal: terminal.signal });
  // Where a browser finds it, which may not be where this program does, such as inside a network of containers.
  const shownUrl = environment === 'production' ? publicUrl : request.url;
  return { annals, shownUrl, terminal, plan: planDemo(seed, articles), trafficMs };
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
