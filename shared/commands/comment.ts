import * as z from 'zod';
import { articleId, commentId, commentText, userId } from '#shared/events/fields.ts';
import { JsonPatch } from './json-patch.ts';

/** Without an author, the caller is it. */
export const AddComment = z.strictObject({
  type: z.literal('AddComment'),
  articleId,
  authorId: userId.optional(),
  text: commentText,
});
export type AddComment = Readonly<z.infer<typeof AddComment>>;

export const EditComment = z.strictObject({ type: z.literal('EditComment'), commentId, text: commentText });
export type EditComment = Readonly<z.infer<typeof EditComment>>;

/** Changes what an edit can change, by a JSON patch. */
export const PatchComment = z.strictObject({ type: z.literal('PatchComment'), commentId, patch: JsonPatch });
export type PatchComment = Readonly<z.infer<typeof PatchComment>>;

/** What a JSON patch of a comment applies to, and must leave behind. */
export const CommentContent = z.strictObject({ text: commentText });

export const DeleteComment = z.strictObject({ type: z.literal('DeleteComment'), commentId });
export type DeleteComment = Readonly<z.infer<typeof DeleteComment>>;
