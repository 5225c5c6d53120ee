import * as z from 'zod';
import { demandedPicture as cover } from '#kernel/declare/values.ts';
import { articleId, body, tags, userId } from '#shared/events/fields.ts';
import { title } from './fields.ts';

/** Without an author, the caller is it. */
export const DraftArticle = z.strictObject({
  type: z.literal('DraftArticle'),
  authorId: userId.optional(),
  title,
  body,
  tags: tags.default([]),
  cover: cover.nullable().default(null),
  publish: z.boolean().default(false),
});

/** Changes what is named; `cover: null` removes the cover. */
export const EditArticle = z.strictObject({
  type: z.literal('EditArticle'),
  articleId,
  title: title.optional(),
  body: body.optional(),
  tags: tags.optional(),
  cover: cover.nullable().optional(),
});
