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
export type DraftArticle = Readonly<z.infer<typeof DraftArticle>>;

/** Changes what is named; `cover: null` removes the cover. */
export const EditArticle = z.strictObject({
  type: z.literal('EditArticle'),
  articleId,
  title: title.optional(),
  body: body.optional(),
  tags: tags.optional(),
  cover: cover.nullable().optional(),
});
export type EditArticle = Readonly<z.infer<typeof EditArticle>>;

export const PublishArticle = z.strictObject({ type: z.literal('PublishArticle'), articleId });
export type PublishArticle = Readonly<z.infer<typeof PublishArticle>>;

export const UnpublishArticle = z.strictObject({ type: z.literal('UnpublishArticle'), articleId });
export type UnpublishArticle = Readonly<z.infer<typeof UnpublishArticle>>;

export const DeleteArticle = z.strictObject({ type: z.literal('DeleteArticle'), articleId });
export type DeleteArticle = Readonly<z.infer<typeof DeleteArticle>>;
