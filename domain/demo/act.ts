import * as z from 'zod';
import type { Acting } from '#kernel/demo/demo.ts';
import type { Random } from '#kernel/demo/random.ts';
import { REMARKS, SEQUELS } from './remarks.ts';

const Articles = z.array(
  z.object({ id: z.number(), title: z.string(), body: z.string(), tags: z.array(z.string()), author: z.object({ id: z.number() }) }),
);
type Article = z.infer<typeof Articles>[number];

const PAGE = 100;
/** Between reading and writing, somebody may have unpublished it, changed it, or taken it away. */
const OVERTAKEN = [404, 409, 412];

/** What goes on among the people of the demo alone: whoever else is there is left in peace. */
export const act = async ({ send, random, people }: Acting): Promise<void> => {
  const all = people.map(({ id }) => id);
  const writers = people.filter(({ role }) => role !== 'reader').map(({ id }) => id);
  const listed = Articles.parse((await send('GET', `/articles?limit=${PAGE}`)).body);
  const ours = listed.filter(({ author }) => all.includes(author.id));
  if (writers.length === 0 || ours.length === 0) return;
  const article = random.pick(ours);
  await send('GET', `/articles/${article.id}/comments`, { expected: OVERTAKEN });
  await send('POST', '/graphql', { body: { query: `{ post(id: "${article.id}") { title author { name } comments { text } } }` } });
  const dice = random.below(10);
  if (dice < 5) {
    const body = { authorId: random.pick(all), text: random.pick(REMARKS).text };
    await send('POST', `/articles/${article.id}/comments`, { body, expected: OVERTAKEN });
  } else if (dice < 8) await send('PATCH', `/articles/${article.id}`, { body: touched(article), expected: OVERTAKEN });
  else await send('POST', '/articles', { body: { ...followUpOf(article, random), authorId: random.pick(writers) } });
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
