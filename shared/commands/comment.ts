import * as z from 'zod';
import { articleId, commentId, commentText, userId } from '#shared/events/fields.ts';

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

export const DeleteComment = z.strictObject({ type: z.literal('DeleteComment'), commentId });
export type DeleteComment = Readonly<z.infer<typeof DeleteComment>>;
