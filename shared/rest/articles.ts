import * as z from 'zod';
import { picture as cover, demandedPicture, timestamp } from '#kernel/declare/values.ts';
import { DraftArticle, EditArticle } from '#shared/commands/article.ts';
import * as demanded from '#shared/commands/fields.ts';
import { JsonPatch } from '#shared/commands/json-patch.ts';
import { body, name, tags, title } from '#shared/events/fields.ts';
import { atOfList, ItemAt } from './at.ts';
import { createdAt, id, Links, unheeded, updatedAt, Written, written } from './fields.ts';
import { idParameter, PAGE, search, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

export const Article = z
  .strictObject({
    id,
    title,
    body: body.meta({ description: 'Markdown.' }),
    tags,
    status: z.enum(['draft', 'published']).meta({ readOnly: true }),
    author: z.strictObject({ id, name }).meta({ readOnly: true }),
    cover: cover.nullable(),
    createdAt,
    updatedAt,
    publishedAt: timestamp.nullable().meta({ readOnly: true }),
    _links: Links,
  })
  .meta({ id: 'Article' });
export type Article = Readonly<z.infer<typeof Article>>;

export const NewArticle = DraftArticle.omit({ type: true }).meta({ id: 'NewArticle' });

/** The whole of what can be changed; what cannot be may be left in it. */
const ArticleReplacement = z
  .strictObject({
    title: demanded.title,
    body,
    tags,
    cover: demandedPicture.nullable(),
    id: unheeded,
    status: unheeded,
    author: unheeded,
    createdAt: unheeded,
    updatedAt: unheeded,
    publishedAt: unheeded,
    _links: unheeded,
  })
  .transform(({ title, body, tags, cover }) => ({ title, body, tags, cover }))
  .meta({
    id: 'ArticleReplacement',
    description: 'The whole article. Every field that can be changed must be there: `[]` removes the tags, `null` the cover.',
  });

export const ArticlePatch = EditArticle.omit({ type: true, articleId: true }).meta({ id: 'ArticlePatch' });

const filters = {
  status: z.enum(['draft', 'published']).optional(),
  tag: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/)
    .optional(),
  q: search.optional(),
  // By publication, only what is published is listed.
  sort: sortBy('-createdAt', 'createdAt', '-publishedAt', 'publishedAt'),
};
export const ArticlesOfAuthor = z.strictObject({ ...PAGE, ...filters, at: atOfList });
const Articles = ArticlesOfAuthor.extend({ author: idParameter.optional() });

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'] as const;
const image = z.file();

const item = { path: '/articles/{articleId}' } as const;

export const ARTICLE_OPERATIONS = {
  listArticles: {
    method: 'GET',
    path: '/articles',
    role: 'query',
    summary: 'The articles that you may read',
    right: 'article.read',
    query: Articles,
    answer: { status: 200, description: 'A page of articles.', kind: 'list', schema: Article },
  },
  createArticle: {
    method: 'POST',
    path: '/articles',
    role: 'command',
    summary: 'Write an article, as a draft or published at once',
    right: 'article.draft',
    body: { 'application/json': NewArticle },
    answer: { status: 201, description: 'The article was written.', kind: 'written', schema: Written, item: 'getArticle' },
  },
  getArticle: {
    ...item,
    method: 'GET',
    role: 'query',
    summary: 'An article',
    right: 'article.read',
    query: ItemAt,
    answer: { status: 200, description: 'The article.', kind: 'item', schema: Article },
  },
  replaceArticle: {
    ...item,
    method: 'PUT',
    role: 'command',
    summary: 'Replace what can be changed of an article',
    right: 'article.edit',
    body: { 'application/json': ArticleReplacement },
    answer: written('The article is as it was sent.', 'getArticle'),
  },
  editArticle: {
    ...item,
    method: 'PATCH',
    role: 'command',
    summary: 'Change an article',
    right: 'article.edit',
    body: { 'application/merge-patch+json': ArticlePatch, 'application/json-patch+json': JsonPatch, 'application/json': ArticlePatch },
    answer: written('The article was changed.', 'getArticle'),
  },
  deleteArticle: {
    ...item,
    method: 'DELETE',
    role: 'command',
    summary: 'Delete an article with its comments',
    right: 'article.delete',
    answer: { status: 204, description: 'The article is gone.', kind: 'nothing' },
  },
  publishArticle: {
    method: 'POST',
    path: '/articles/{articleId}/publish',
    role: 'command',
    summary: 'Publish an article',
    right: 'article.publish',
    answer: written('The article is published.', 'getArticle'),
  },
  unpublishArticle: {
    method: 'POST',
    path: '/articles/{articleId}/unpublish',
    role: 'command',
    summary: 'Make a draft of an article again',
    right: 'article.unpublish',
    answer: written('The article is a draft.', 'getArticle'),
  },
  putCover: {
    method: 'PUT',
    path: '/articles/{articleId}/cover',
    role: 'command',
    summary: 'Give an article a picture',
    right: 'article.edit',
    body: Object.fromEntries(IMAGE_TYPES.map((type) => [type, image])),
    answer: written('The article has the picture.'),
  },
  deleteCover: {
    method: 'DELETE',
    path: '/articles/{articleId}/cover',
    role: 'command',
    summary: 'Take its picture from an article',
    right: 'article.edit',
    answer: { status: 204, description: 'The article has no picture.', kind: 'nothing' },
  },
} as const satisfies Record<string, RestOperation>;
