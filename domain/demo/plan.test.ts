import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { randomFrom } from '#kernel/demo/random.ts';
import { commandsOf } from '#shared/commands/command.ts';
import { coverPicture } from './cover-picture.ts';
import { demo } from './demo.ts';
import { planDemo } from './plan.ts';

const Command = commandsOf(publishing);

test('the same seed gives the same plan, and another seed other people', () => {
  expect(planDemo(7, 60)).toEqual(planDemo(7, 60));
  const [one, other] = [planDemo(1, 1), planDemo(2, 1)].map(
    ({ people }) => new Set(people.map(({ email }) => email)),
  );
  expect(one?.isDisjointFrom(other ?? new Set())).toBe(true);
});

test('commands accept the whole plan', () => {
  const { people, articles } = planDemo(3, 200);
  for (const { name, email, role } of people) Command.parse({ type: 'RegisterUser', name, email, role });
  for (const { title, body, tags, edits, comments } of articles) {
    for (const edit of [{}, ...edits]) Command.parse({ type: 'DraftArticle', title, body, tags, ...edit });
    for (const { text } of comments) Command.parse({ type: 'AddComment', articleId: 1, text });
  }
});

test.each([40, 500])('%i articles have different titles, and every fate occurs', (count) => {
  const { articles } = planDemo(1, count);
  expect(new Set(articles.map(({ title }) => title)).size).toBe(count);
  expect(new Set(articles.map(({ fate }) => fate))).toEqual(
    new Set(['draft', 'published', 'unpublished', 'deleted']),
  );
});

test('a cover is a small PNG, the same for the same seed', () => {
  const cover = coverPicture(randomFrom(5));
  expect(cover.subarray(1, 4).toString('latin1')).toBe('PNG');
  expect(cover.equals(coverPicture(randomFrom(5)))).toBe(true);
  expect(cover.length).toBeLessThan(100_000);
});

test('every scene is within the four weeks, or today', () => {
  const { scenes, days } = demo(4, 60);
  for (const { at } of scenes) expect(at === 'today' || (at >= 0 && at < days * 1_440)).toBe(true);
});
