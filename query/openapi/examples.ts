import type { JsonObject } from '#shared/json.ts';

const written = { createdAt: '2026-11-21T09:30:00.000Z', updatedAt: '2026-11-21T10:15:00.000Z' };
const author = { id: 1001, name: 'Ada Lovelace' };

/** What a schema of a name looks like filled in; a test holds each against its schema. */
export const EXAMPLES: Readonly<Record<string, JsonObject | readonly JsonObject[]>> = {
  User: {
    id: 1001,
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    role: 'author',
    ...written,
    _links: { self: { href: '/users/1001' }, articles: { href: '/users/1001/articles' }, edit: { href: '/users/1001', method: 'PATCH' } },
  },
  NewUser: { name: 'Ada Lovelace', email: 'ada@example.com', role: 'author' },
  UserReplacement: { name: 'Ada King', email: 'ada@example.com' },
  UserPatch: { name: 'Ada King' },
  Article: {
    id: 8001,
    title: 'On the Analytical Engine',
    body: 'It weaves *algebraical* patterns.',
    tags: ['engines', 'history'],
    status: 'draft',
    author,
    cover: '/uploads/8001-0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b.png',
    ...written,
    publishedAt: null,
    _links: { self: { href: '/articles/8001' }, publish: { href: '/articles/8001/publish', method: 'POST' } },
  },
  NewArticle: { title: 'On the Analytical Engine', body: 'It weaves *algebraical* patterns.', tags: ['engines'], publish: false },
  ArticleReplacement: { title: 'On the Analytical Engine', body: 'It weaves patterns.', tags: ['engines', 'history'], cover: null },
  ArticlePatch: { title: 'Notes on the Analytical Engine' },
  Comment: {
    id: 9001,
    articleId: 8001,
    author,
    text: 'Well said.',
    ...written,
    _links: { self: { href: '/comments/9001' }, article: { href: '/articles/8001' } },
  },
  NewComment: { text: 'Well said.' },
  CommentReplacement: { text: 'Very well said.' },
  CommentPatch: { text: 'Very well said.' },
  JsonPatch: [{ op: 'replace', path: '/title', value: 'Notes on the Analytical Engine' }],
  Written: { id: 8001, version: 3, cursor: '6f9619ff-1z4', _links: { self: { href: '/articles/8001' } } },
};
