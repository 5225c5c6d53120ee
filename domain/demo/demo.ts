import type { Demo, DemoWebhook, PlannedDemo, Scene } from '#kernel/demo/demo.ts';
import { act } from './act.ts';
import { incident } from './incident.ts';
import { EDITOR, FIRST_READER, type PlannedArticle, planDemo } from './plan.ts';
import { scenesOfArticles } from './story.ts';
import { DAYS, timeOf } from './story-time.ts';

/** Four weeks of a small magazine, with its writers, readers and editors. */
export const demo: Demo = (seed, count) => {
  // One of the articles is that of the incident.
  const { people, articles } = planDemo(seed, count - 1);
  const { scenes, articleId } = incident();
  return {
    days: DAYS,
    people,
    scenes: [
      ...scenesOfArticles(articles, seed),
      ...scenes,
      ...scenesOfPeople(people[FIRST_READER]?.name ?? ''),
    ],
    webhooks: WEBHOOKS,
    clients: CLIENTS,
    summary: summaryOf(articles),
    lookAt: () => ({
      path: `/console/items/articles/${articleId()}`,
      says: 'somebody changed the facts of this article at night',
    }),
    act,
  };
};

/** One person marries, one starts to write, and one leaves and is erased. */
const scenesOfPeople = (marries: string): readonly Scene[] => [
  {
    at: timeOf(15, '10:20'),
    play: async ({ send, idOf }) =>
      void (await send(EDITOR, { type: 'UpdateUser', userId: idOf(FIRST_READER + 1), role: 'author' })),
  },
  {
    at: timeOf(19, '20:05'),
    play: async ({ send, idOf }) =>
      void (await send(FIRST_READER, {
        type: 'UpdateUser',
        userId: idOf(FIRST_READER),
        name: `${marries} Lindqvist`,
      })),
  },
  {
    at: 'today',
    play: async ({ send, idOf }) =>
      void (await send(FIRST_READER + 2, { type: 'DeleteUser', userId: idOf(FIRST_READER + 2) })),
  },
];

/** Late in the story, so that a demo does not start with thousands of deliveries. */
const REGISTERED = timeOf(21, '14:10');

const WEBHOOKS: readonly DemoWebhook[] = [
  {
    description: 'Search index',
    path: '/search-index',
    eventTypes: ['article.*'],
    payload: 'full',
    receiver: 'well',
    registered: REGISTERED,
  },
  {
    ...{ description: 'Newsletter', path: '/newsletter', eventTypes: ['article.published', 'comment.added'] },
    ...{ payload: 'thin', receiver: 'moved', registered: REGISTERED },
  },
];

/** Programs that others might register. */
const CLIENTS: PlannedDemo['clients'] = [
  {
    clientId: 'search-index',
    name: 'Search index',
    grantTypes: ['client_credentials'],
    tokenEndpointAuthMethod: 'client_secret_basic',
    scopes: ['read:articles', 'read:events'],
    defaultScopes: ['read:articles', 'read:events'],
    serviceAccountRole: 'reader',
  },
  {
    clientId: 'reading-list',
    name: 'Reading List',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://localhost:3000/callback'],
    scopes: ['openid', 'profile', 'read:articles', 'write:comments'],
    defaultScopes: ['openid', 'read:articles'],
  },
];

const summaryOf = (articles: readonly PlannedArticle[]): readonly string[] => {
  const count = (fate: string): number => articles.filter((article) => article.fate === fate).length;
  const comments = articles.flatMap((article) => article.comments);
  const moderated = comments.filter(({ isModerated }) => isModerated).length;
  const fates = `${count('published') + 1} published, ${count('draft')} drafts, ${count('unpublished')} unpublished, ${count('deleted')} deleted`;
  return [
    `${articles.length + 1} articles: ${fates}`,
    `${comments.length + COMMENTS_ON_INCIDENT} comments, ${moderated} of them deleted by the editor`,
  ];
};

const COMMENTS_ON_INCIDENT = 4;
