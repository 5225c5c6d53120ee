import * as z from 'zod';
import { AddComment, EditComment } from '#shared/commands/comment.ts';
import { JsonPatch } from '#shared/commands/json-patch.ts';
import { commentText, name } from '#shared/events/fields.ts';
import { atOfList, ItemAt } from './at.ts';
import { createdAt, id, Links, unheeded, updatedAt, Written, written } from './fields.ts';
import { PAGE, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

export const Comment = z
  .strictObject({
    id,
    articleId: id,
    author: z.strictObject({ id, name }).meta({ readOnly: true }),
    text: commentText,
    createdAt,
    updatedAt,
    _links: Links,
  })
  .meta({ id: 'Comment' });
export type Comment = Readonly<z.infer<typeof Comment>>;

/** What stands for the text that went with its author. */
export const ERASED_TEXT = '[deleted]';

export const NewComment = AddComment.omit({ type: true, articleId: true }).meta({ id: 'NewComment' });

const CommentReplacement = z
  .strictObject({
    text: commentText,
    id: unheeded,
    articleId: unheeded,
    author: unheeded,
    createdAt: unheeded,
    updatedAt: unheeded,
    _links: unheeded,
  })
  .transform(({ text }) => ({ text }))
  .meta({ id: 'CommentReplacement' });

export const CommentPatch = EditComment.omit({ type: true, commentId: true }).meta({ id: 'CommentPatch' });

const Comments = z.strictObject({ ...PAGE, sort: sortBy('createdAt', '-createdAt'), at: atOfList });

const item = { path: '/comments/{commentId}' } as const;

export const COMMENT_OPERATIONS = {
  listComments: {
    method: 'GET',
    path: '/articles/{articleId}/comments',
    role: 'query',
    summary: 'The comments on an article',
    right: 'comment.read',
    query: Comments,
    answer: { status: 200, description: 'A page of comments.', kind: 'list', schema: Comment },
  },
  addComment: {
    method: 'POST',
    path: '/articles/{articleId}/comments',
    role: 'command',
    summary: 'Comment on a published article',
    right: 'comment.add',
    body: { 'application/json': NewComment },
    answer: { status: 201, description: 'The comment was added.', kind: 'written', schema: Written, item: 'getComment' },
  },
  getComment: {
    ...item,
    method: 'GET',
    role: 'query',
    summary: 'A comment',
    right: 'comment.read',
    query: ItemAt,
    answer: { status: 200, description: 'The comment.', kind: 'item', schema: Comment },
  },
  replaceComment: {
    ...item,
    method: 'PUT',
    role: 'command',
    summary: 'Replace the text of a comment',
    right: 'comment.edit',
    body: { 'application/json': CommentReplacement },
    answer: written('The comment is as it was sent.', 'getComment'),
  },
  editComment: {
    ...item,
    method: 'PATCH',
    role: 'command',
    summary: 'Change a comment',
    right: 'comment.edit',
    body: { 'application/merge-patch+json': CommentPatch, 'application/json-patch+json': JsonPatch, 'application/json': CommentPatch },
    answer: written('The comment was changed.', 'getComment'),
  },
  deleteComment: {
    ...item,
    method: 'DELETE',
    role: 'command',
    summary: 'Delete a comment',
    right: 'comment.delete',
    answer: { status: 204, description: 'The comment is gone.', kind: 'nothing' },
  },
} as const satisfies Record<string, RestOperation>;
