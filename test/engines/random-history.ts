import type { UserId, WebhookId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#shared/commands/command.ts';
import type { ArticleId, CommentId } from '../publishing-ids.ts';
import type { Asker, Backend } from './backend.ts';
import { by, system } from './command-side.ts';

/** Everything made so far, including deleted items. */
export type Made = {
  readonly people: readonly Asker[];
  readonly articles: ArticleId[];
  readonly comments: CommentId[];
  readonly webhooks: WebhookId[];
};

type Random = (below: number) => number;

/** Small pseudo-random numbers, the same for the same seed (mulberry32). */
export const randomFrom = (seed: number): Random => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

const WEBHOOK = {
  description: null,
  filter: {},
  payload: 'thin',
  ordered: false,
  limits: { ratePerSecond: 5, concurrency: 1 },
  headers: {},
  enabled: true,
} as const;

/** Takes a random action; a refused one has no effect. */
export const takeRandomStep = async (backend: Backend, random: Random, made: Made): Promise<void> => {
  const command = randomCommand(random, made);
  const caller = command.type === 'RegisterWebhook' ? { ...by(system) } : by(system);
  try {
    const { id } = await backend.side.send(command, caller);
    if (command.type === 'DraftArticle') made.articles.push(id as ArticleId);
    if (command.type === 'AddComment') made.comments.push(id as CommentId);
    if (command.type === 'RegisterWebhook') made.webhooks.push(id as WebhookId);
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
  }
};

const TAGS = [[], ['looms'], ['looms', 'engines']] as const;
const BODIES = [
  '',
  'One line.',
  'One line.\nAnd another.\n',
  `${'A line of many.\n'.repeat(30)}The end.`,
] as const;

const randomCommand = (random: Random, { people, articles, comments, webhooks }: Made): Command => {
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item;
  const userId = pick(people).id as UserId;
  const word = `${random(1_000)}`;
  const [articleId, commentId, webhookId] = [pick(articles), pick(comments), pick(webhooks)];
  const commands: readonly (Command | false)[] = [
    {
      type: 'DraftArticle',
      authorId: userId,
      title: `T${word}`,
      body: pick(BODIES),
      tags: [...pick(TAGS)],
      cover: null,
      publish: random(3) > 0,
    },
    { type: 'UpdateUser', userId, name: `N${word}` },
    { type: 'UpdateUser', userId, email: `e${word}@example.com` },
    articleId !== undefined && { type: 'EditArticle', articleId, title: `T${word}`, body: pick(BODIES) },
    articleId !== undefined && {
      type: 'EditArticle',
      articleId,
      tags: [...pick(TAGS)],
      cover: random(2) ? `https://example.com/${word}` : null,
    },
    articleId !== undefined && { type: 'PublishArticle', articleId },
    articleId !== undefined && { type: 'PublishArticle', articleId },
    articleId !== undefined && { type: 'UnpublishArticle', articleId },
    articleId !== undefined && { type: 'AddComment', authorId: userId, articleId, text: `C${word}` },
    articleId !== undefined && { type: 'AddComment', authorId: userId, articleId, text: `C${word}` },
    commentId !== undefined && { type: 'EditComment', commentId, text: `C${word}` },
    commentId !== undefined && { type: 'DeleteComment', commentId },
    articleId !== undefined && random(2) === 0 && { type: 'DeleteArticle', articleId },
    {
      type: 'RegisterWebhook',
      ...WEBHOOK,
      ownerId: userId,
      url: `https://example.com/${word}`,
      eventTypes: ['client.deleted'],
    },
    webhookId !== undefined && {
      type: 'EditWebhook',
      webhookId,
      url: `https://example.com/${word}`,
      limits: { ratePerSecond: random(50) + 1 },
    },
    webhookId !== undefined && { type: 'DisableWebhook', webhookId, reason: 'owner' },
    webhookId !== undefined && { type: 'EnableWebhook', webhookId },
    webhookId !== undefined && random(2) === 0 && { type: 'DeleteWebhook', webhookId },
  ];
  return pick(commands.filter((command) => command !== false));
};
