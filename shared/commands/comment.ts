import * as z from 'zod';
import { articleId, commentId, commentText, userId } from '#shared/events/fields.ts';

/** Without an author, the caller is it. */
export const AddComment = z.strictObject({
  type: z.literal('AddComment'),
  articleId,
  authorId: userId.optional(),
  text: commentText,
});

export const EditComment = z.strictObject({ type: z.literal('EditComment'), commentId, text: commentText });
