import * as z from 'zod';
import { StartRefused } from '#shared/start-refused.ts';
import type { AnnalsByHttp } from './annals-by-http.ts';
import { coverPicture } from './cover-picture.ts';
import type { DemoPlan, PlannedArticle, PlannedComment, PlannedPerson } from './plan.ts';
import { randomFrom } from './random.ts';

type Making = {
  readonly annals: AnnalsByHttp;
  readonly plan: DemoPlan;
  tell(what: string, done: number, of: number): void;
};

/** So many requests are under way at once. */
const LANES = 6;
const CONFLICT = 409;
/** A step of an earlier run, which went on from there: the version is another one by now, or the item is gone. */
const DONE_BEFORE = [404, 412];

/** Makes what is planned. A run that was cut off is gone on with, because keys and versions tell what it has done. Answers with the ids of the people. */
export const makeContent = async ({ annals, plan, tell }: Making): Promise<readonly number[]> => {
  const people: number[] = [];
  for (const [index, person] of plan.people.entries()) {
    tell('people', index, plan.people.length);
    people.push(await makePerson(annals, plan.seed, person));
  }
  let done = 0;
  await inLanes([...plan.articles.entries()], async ([index, article]) => {
    await makeArticle({ annals, key: `demo-${plan.seed}-article-${index}`, people }, article);
    done += 1;
    tell('articles', done, plan.articles.length);
  });
  for (const [index, { later }] of plan.people.entries()) if (later) await turn(annals, people[index] ?? 0, later);
  return people;
};

const Made = z.object({ id: z.number(), version: z.number() });

const makePerson = async (annals: AnnalsByHttp, seed: number, { name, email, role }: PlannedPerson): Promise<number> => {
  const key = `demo-${seed}-person-${email}`;
  const { status, body } = await annals.send('POST', '/users', { key, body: { name, email, role }, expected: [CONFLICT] });
  if (status !== CONFLICT) return Made.parse(body).id;
  throw new StartRefused(`${email} is somebody else's address already: make a demo of its own with another --seed.`);
};

const turn = async (annals: AnnalsByHttp, userId: number, later: NonNullable<PlannedPerson['later']>): Promise<void> => {
  if (later === 'deleted') await annals.send('DELETE', `/users/${userId}`, { expected: DONE_BEFORE });
  else await annals.send('PATCH', `/users/${userId}`, { body: later, ifVersion: 1, expected: DONE_BEFORE });
};

type Place = { readonly annals: AnnalsByHttp; readonly key: string; readonly people: readonly number[] };

const makeArticle = async (place: Place, article: PlannedArticle): Promise<void> => {
  const { annals, key, people } = place;
  const { title, body, tags, fate } = article;
  const draft = { authorId: people[article.author], title, body, tags, publish: fate !== 'draft' };
  const made = Made.parse((await annals.send('POST', '/articles', { key, body: draft })).body);
  const path = `/articles/${made.id}`;
  for (const [index, comment] of article.comments.entries()) await makeComment({ ...place, key: `${key}-comment-${index}` }, path, comment);
  let ifVersion = made.version;
  const change = async (method: string, at: string, request: object): Promise<void> => {
    await annals.send(method, at, { ...request, ifVersion, expected: DONE_BEFORE });
    ifVersion += 1;
  };
  if (article.coverSeed !== undefined) await change('PUT', `${path}/cover`, { picture: coverPicture(randomFrom(article.coverSeed)) });
  for (const edit of article.edits) await change('PATCH', path, { body: edit });
  if (fate === 'unpublished') await change('POST', `${path}/unpublish`, {});
  if (fate === 'deleted') await annals.send('DELETE', path, { expected: DONE_BEFORE });
};

const makeComment = async ({ annals, key, people }: Place, path: string, comment: PlannedComment): Promise<void> => {
  const said = { authorId: people[comment.author], text: comment.text };
  const { id } = Made.parse((await annals.send('POST', `${path}/comments`, { key, body: said })).body);
  if (comment.edited !== undefined)
    await annals.send('PATCH', `/comments/${id}`, { body: { text: comment.edited }, ifVersion: 1, expected: DONE_BEFORE });
  if (comment.isModerated) await annals.send('DELETE', `/comments/${id}`, { expected: DONE_BEFORE });
};

const inLanes = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const left = items.values();
  const lane = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
