import type { Demo, DemoWebhook, PlannedDemo } from '#kernel/demo/demo.ts';
import { act } from './act.ts';
import { makeArticle } from './make-article.ts';
import { type PlannedArticle, planDemo } from './plan.ts';

/** A small magazine, with those who write, read and edit it. */
export const demo: Demo = (seed, count) => {
  const { people, articles } = planDemo(seed, count);
  return {
    people,
    items: articles.map((article) => (making) => makeArticle(making, article)),
    webhooks: WEBHOOKS,
    clients: CLIENTS,
    summary: summaryOf(articles),
    act,
  };
};

const WEBHOOKS: readonly DemoWebhook[] = [
  { description: 'Search index', path: '/search-index', eventTypes: ['article.*'], payload: 'full', receiver: 'reliable' },
  {
    description: 'Newsletter',
    path: '/newsletter',
    eventTypes: ['article.published', 'comment.added'],
    payload: 'thin',
    receiver: 'flaky',
  },
  { description: 'Old mailing list', path: '/old-list', eventTypes: ['article.published'], payload: 'thin', receiver: 'gone' },
];

/** Programs as others would register them. */
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
  return [
    `${articles.length} articles: ${count('published')} published, ${count('draft')} drafts, ${count('unpublished')} unpublished, ${count('deleted')} deleted`,
    `${comments.length} comments, ${moderated} of them taken away by an editor`,
  ];
};
