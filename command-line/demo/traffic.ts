import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { AnnalsByHttp } from './annals-by-http.ts';
import type { DemoPlan } from './plan.ts';
import { type Random, randomFrom } from './random.ts';
import { REMARKS, SEQUELS } from './remarks.ts';

type Traffic = {
  readonly annals: AnnalsByHttp;
  readonly plan: DemoPlan;
  readonly durationMs: number;
  readonly signal: AbortSignal;
  /** Told after each step. */
  onStep(steps: number, leftMs: number): void;
};

const PAUSE_MIN_MS = 100;
const PAUSE_SPREAD_MS = 600;
/** Busy and quiet times take turns, as they do where people are. */
const WAVE_MS = 240_000;
const quietAt = (nowMs: number): number => 1.05 + Math.sin((2 * Math.PI * nowMs) / WAVE_MS);

const People = z.array(z.object({ id: z.number(), email: z.string().nullish(), role: z.string().optional() }));
const Articles = z.array(
  z.object({ id: z.number(), title: z.string(), body: z.string(), tags: z.array(z.string()), author: z.object({ id: z.number() }) }),
);
type Article = z.infer<typeof Articles>[number];

/** What goes on among the people of the demo alone: whoever else is there is left in peace. Ends early when it is told to. */
export const keepTraffic = async ({ annals, plan, durationMs, signal, onStep }: Traffic): Promise<void> => {
  const endsAtMs = performance.now() + durationMs;
  // Another each time, so that it does not say the same again.
  const random = randomFrom(Date.now());
  const people = await readPeople(annals, plan);
  for (let steps = 1; performance.now() < endsAtMs && !signal.aborted; steps += 1) {
    await step(annals, random, people).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    onStep(steps, Math.max(0, endsAtMs - performance.now()));
    await delay(PAUSE_MIN_MS + random.below(PAUSE_SPREAD_MS) * quietAt(performance.now()), undefined, { signal }).catch(() => {});
  }
};

type Persons = { readonly all: readonly number[]; readonly writers: readonly number[] };

const PAGES_MAX = 100;
const PAGE = 100;

const readPeople = async ({ send }: AnnalsByHttp, plan: DemoPlan): Promise<Persons> => {
  const addresses = new Set(plan.people.map(({ email }) => email));
  const found: z.infer<typeof People> = [];
  let path: string | undefined = `/users?limit=${PAGE}`;
  for (let page = 0; path !== undefined && page < PAGES_MAX; page += 1) {
    const { body, next } = await send('GET', path);
    found.push(...People.parse(body).filter(({ email }) => addresses.has(email ?? '')));
    path = found.length < addresses.size ? next : undefined;
  }
  const writers = found.filter(({ role }) => role !== 'reader');
  return { all: found.map(({ id }) => id), writers: writers.map(({ id }) => id) };
};

/** Between reading and writing, somebody may have unpublished it, changed it, or taken it away. */
const OVERTAKEN = [404, 409, 412];

const step = async ({ send }: AnnalsByHttp, random: Random, people: Persons): Promise<void> => {
  const listed = Articles.parse((await send('GET', `/articles?limit=${PAGE}`)).body);
  const ours = listed.filter(({ author }) => people.all.includes(author.id));
  if (people.writers.length === 0 || ours.length === 0) return;
  const article = random.pick(ours);
  await send('GET', `/articles/${article.id}/comments`, { expected: OVERTAKEN });
  await send('POST', '/graphql', { body: { query: `{ post(id: "${article.id}") { title author { name } comments { text } } }` } });
  const dice = random.below(10);
  if (dice < 5) {
    const body = { authorId: random.pick(people.all), text: random.pick(REMARKS).text };
    await send('POST', `/articles/${article.id}/comments`, { body, expected: OVERTAKEN });
  } else if (dice < 8) await send('PATCH', `/articles/${article.id}`, { body: touched(article), expected: OVERTAKEN });
  else await send('POST', '/articles', { body: { ...followUpOf(article, random), authorId: random.pick(people.writers) } });
};

const SEEN_AGAIN = '\n\n*Looked through once more.*';

/** There and back again, so that nothing grows for ever. */
const touched = ({ body }: Article): object => ({
  body: body.endsWith(SEEN_AGAIN) ? body.slice(0, -SEEN_AGAIN.length) : body + SEEN_AGAIN,
});

const followUpOf = ({ title, tags }: Article, random: Random): object => {
  const sequel = random.pick(SEQUELS);
  const about = title.replace(/^[^“]*“(.+)”.*$/, '$1');
  return { title: sequel.title(about), body: sequel.opening, tags: tags.slice(0, 2), publish: true };
};
