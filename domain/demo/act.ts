import * as z from 'zod';
import type { Acting } from '#kernel/demo/demo.ts';
import type { Random } from '#kernel/demo/random.ts';
import { REMARKS, SEQUELS } from './remarks.ts';

const Articles = z.array(
  z.object({
    id: z.number(),
    title: z.string(),
    body: z.string(),
    tags: z.array(z.string()),
    author: z.object({ id: z.number() }),
  }),
);
type Article = z.infer<typeof Articles>[number];

const PAGE = 100;

/** Acts among the people of the demo only, and leaves everyone else’s content alone. */
export const act = async ({ send, read, random, people }: Acting): Promise<void> => {
  const listed = Articles.parse(await read(`/articles?limit=${PAGE}`));
  const placeById = new Map(people.map(({ id, place }) => [id, place]));
  const ours = listed.filter(({ author }) => placeById.has(author.id));
  if (ours.length === 0) return;
  const article = random.pick(ours);
  const articleId = article.id;
  const author = placeById.get(article.author.id) ?? 0;
  const dice = random.below(10);
  if (dice < 5) {
    const text = random.pick(REMARKS).text;
    await send(
      random.pick(people).place,
      { type: 'AddComment', articleId, text },
      { client: 'reading-list' },
    );
  } else if (dice < 8) await send(author, { type: 'EditArticle', articleId, ...touched(article) });
  else await send(author, { type: 'DraftArticle', ...followUpOf(article, random) });
};

const SEEN_AGAIN = '\n\n*Looked through once more.*';

/** Toggles a suffix, so that texts do not grow for ever. */
const touched = ({ body }: Article): object => ({
  body: body.endsWith(SEEN_AGAIN) ? body.slice(0, -SEEN_AGAIN.length) : body + SEEN_AGAIN,
});

const followUpOf = ({ title, tags }: Article, random: Random): object => {
  const sequel = random.pick(SEQUELS);
  const about = title.replace(/^[^“]*“(.+)”.*$/, '$1');
  return {
    title: sequel.title(about),
    body: sequel.opening,
    tags: tags.slice(0, 2),
    cover: null,
    publish: true,
  };
};
