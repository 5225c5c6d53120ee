import type { DemoCommand, Scene, Stage, StoryTime } from '#kernel/demo/demo.ts';
import { type Random, randomFrom } from '#kernel/demo/random.ts';
import { coverPicture } from './cover-picture.ts';
import { EDITOR, FIRST_READER, type PlannedArticle, type PlannedComment } from './plan.ts';
import { DAY, LAST, timeOf } from './story-time.ts';

const FIRST_DAY = 2;
const LAST_DAY = 25;
const WORKDAY = 600;

/** The scenes of each article: writing, publishing, comments and changes. */
export const scenesOfArticles = (articles: readonly PlannedArticle[], seed: number): readonly Scene[] => {
  const random = randomFrom(seed);
  return articles.flatMap((article, index) => {
    const day = FIRST_DAY + Math.floor((index * (LAST_DAY - FIRST_DAY)) / articles.length);
    return scenesOf(article, timeOf(day, '08:00') + random.below(WORKDAY), random);
  });
};

const HOUR = 60;

const scenesOf = (article: PlannedArticle, draftedAt: number, random: Random): readonly Scene[] => {
  const { author, title, body, tags, fate, coverSeed, edits, comments } = article;
  let articleId = 0;
  const scenes: Scene[] = [];
  const at = (time: StoryTime, play: (stage: Stage) => Promise<unknown>): void => {
    scenes.push({
      at: time === 'today' ? time : Math.min(time, LAST),
      play: async (stage) => void (await play(stage)),
    });
  };
  const byAuthor =
    (type: string, more: object = {}) =>
    (stage: Stage) =>
      stage.send(author, { type, articleId, ...more });
  at(draftedAt, async ({ send }) => {
    articleId = (await send(author, { type: 'DraftArticle', title, body, tags, cover: null })).id;
  });
  if (coverSeed !== undefined)
    at(draftedAt + 12, async (stage) =>
      byAuthor('EditArticle', { cover: await stage.keep(articleId, coverPicture(randomFrom(coverSeed))) })(
        stage,
      ),
    );
  if (fate === 'draft') return scenes;
  const publishedAt = draftedAt + 30 + random.below(20 * HOUR);
  at(publishedAt, byAuthor('PublishArticle'));
  let time = publishedAt;
  for (const comment of comments) {
    time += 15 + random.below(9 * HOUR);
    for (const scene of scenesOfComment(comment, () => articleId, time)) at(scene.at, scene.play);
  }
  let changedAt = publishedAt;
  for (const edit of edits) {
    changedAt += HOUR + random.below(DAY);
    at(changedAt, byAuthor('EditArticle', edit));
  }
  if (fate === 'unpublished') at(Math.max(time, changedAt) + 3 * HOUR, byAuthor('UnpublishArticle'));
  if (fate === 'deleted') at('today', byAuthor('DeleteArticle'));
  return scenes;
};

/** Readers comment through an application of their own. */
const throughOf = (author: number) => (author >= FIRST_READER ? { client: 'reading-list' } : {});

const scenesOfComment = (
  comment: PlannedComment,
  articleId: () => number,
  saidAt: number,
): readonly Scene[] => {
  const { author, text, edited, isModerated } = comment;
  let commentId = 0;
  const scenes: Scene[] = [
    {
      at: saidAt,
      async play({ send }) {
        commentId = (
          await send(author, { type: 'AddComment', articleId: articleId(), text }, throughOf(author))
        ).id;
      },
    },
  ];
  const later = (by: number, command: DemoCommand): void => {
    scenes.push({
      at: saidAt + 9,
      play: async ({ send }) => void (await send(by, { ...command, commentId })),
    });
  };
  if (edited !== undefined) later(author, { type: 'EditComment', text: edited });
  if (isModerated) later(EDITOR, { type: 'DeleteComment' });
  return scenes;
};
