import * as z from 'zod';
import { picture as cover } from '#kernel/declare/values.ts';
import { defineEvent } from './define-event.ts';
import { articleId, body, tags, title, userId } from './fields.ts';

const stream = { kind: 'article', key: 'articleId' } as const;
const authorId = userId;
const mark = z.strictObject({ articleId, authorId });
const markExample = { articleId: 8001, authorId: 7001 };

export const ARTICLE_EVENTS = {
  'article.drafted': defineEvent({
    type: 'article.drafted',
    version: 1,
    visibility: 'public',
    description: 'An article was written, as a draft.',
    stream,
    schema: z.strictObject({ articleId, authorId, title, body, tags, cover: cover.nullable() }),
    personal: null,
    upcasters: {},
    example: { ...markExample, title: 'On engines', body: 'An *analytical* one.', tags: ['engines'], cover: null },
  }),
  'article.edited': defineEvent({
    type: 'article.edited',
    version: 1,
    visibility: 'public',
    description: 'An article’s content was changed; only the changed fields are there.',
    stream,
    schema: z.strictObject({
      articleId,
      authorId,
      title: title.exactOptional(),
      body: body.exactOptional(),
      tags: tags.exactOptional(),
      cover: cover.nullable().exactOptional(),
    }),
    personal: null,
    upcasters: {},
    example: { ...markExample, title: 'On analytical engines' },
  }),
  'article.published': defineEvent({
    type: 'article.published',
    version: 1,
    visibility: 'public',
    description: 'A draft was published.',
    stream,
    schema: mark,
    personal: null,
    upcasters: {},
    example: markExample,
  }),
  'article.unpublished': defineEvent({
    type: 'article.unpublished',
    version: 1,
    visibility: 'public',
    description: 'A published article became a draft again.',
    stream,
    schema: mark,
    personal: null,
    upcasters: {},
    example: markExample,
  }),
  'article.deleted': defineEvent({
    type: 'article.deleted',
    version: 1,
    visibility: 'public',
    description: 'An article was deleted; its comments are deleted after it.',
    stream,
    schema: mark,
    personal: null,
    upcasters: {},
    example: markExample,
  }),
};
