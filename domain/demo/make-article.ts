import * as z from 'zod';
import { DONE_BEFORE, type Making } from '#kernel/demo/demo.ts';
import { randomFrom } from '#kernel/demo/random.ts';
import { coverPicture } from './cover-picture.ts';
import type { PlannedArticle, PlannedComment } from './plan.ts';

const Made = z.object({ id: z.number(), version: z.number() });

export const makeArticle = async (making: Making, article: PlannedArticle): Promise<void> => {
  const { send, key, people } = making;
  const { title, body, tags, fate } = article;
  const draft = { authorId: people[article.author], title, body, tags, publish: fate !== 'draft' };
  const made = Made.parse((await send('POST', '/articles', { key, body: draft })).body);
  const path = `/articles/${made.id}`;
  for (const [index, comment] of article.comments.entries())
    await makeComment({ ...making, key: `${key}-comment-${index}` }, path, comment);
  let ifVersion = made.version;
  const change = async (method: string, at: string, request: object): Promise<void> => {
    await send(method, at, { ...request, ifVersion, expected: DONE_BEFORE });
    ifVersion += 1;
  };
  if (article.coverSeed !== undefined) await change('PUT', `${path}/cover`, { picture: coverPicture(randomFrom(article.coverSeed)) });
  for (const edit of article.edits) await change('PATCH', path, { body: edit });
  if (fate === 'unpublished') await change('POST', `${path}/unpublish`, {});
  if (fate === 'deleted') await send('DELETE', path, { expected: DONE_BEFORE });
};

const makeComment = async ({ send, key, people }: Making, path: string, comment: PlannedComment): Promise<void> => {
  const said = { authorId: people[comment.author], text: comment.text };
  const { id } = Made.parse((await send('POST', `${path}/comments`, { key, body: said })).body);
  if (comment.edited !== undefined)
    await send('PATCH', `/comments/${id}`, { body: { text: comment.edited }, ifVersion: 1, expected: DONE_BEFORE });
  if (comment.isModerated) await send('DELETE', `/comments/${id}`, { expected: DONE_BEFORE });
};
