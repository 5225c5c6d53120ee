import * as z from 'zod';
import { defineEvent } from './define-event.ts';
import { articleId, commentId, commentText, userId } from './fields.ts';

const stream = { kind: 'comment', key: 'commentId' } as const;
/** The text is its author's, also when somebody else changes it. */
const personal = { subject: 'authorId', fields: ['text'] } as const;
const written = z.strictObject({ commentId, articleId, authorId: userId, text: commentText });
const example = { commentId: 9001, articleId: 8001, authorId: 7001, text: 'Splendid.' };

export const COMMENT_EVENTS = {
  'comment.added': defineEvent({
    type: 'comment.added',
    version: 1,
    visibility: 'public',
    description: 'A comment was added to a published article.',
    stream,
    schema: written,
    personal,
    upcasters: {},
    example,
  }),
  'comment.edited': defineEvent({
    type: 'comment.edited',
    version: 1,
    visibility: 'public',
    description: 'A comment’s text was changed.',
    stream,
    schema: written,
    personal,
    upcasters: {},
    example: { ...example, text: 'Splendid indeed.' },
  }),
  'comment.deleted': defineEvent({
    type: 'comment.deleted',
    version: 1,
    visibility: 'public',
    description: 'A comment was deleted.',
    stream,
    schema: z.strictObject({ commentId, articleId, authorId: userId }),
    personal: null,
    upcasters: {},
    example: { commentId: 9001, articleId: 8001, authorId: 7001 },
  }),
};
