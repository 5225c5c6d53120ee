import { CommentContent, type EditComment, type PatchComment } from '#shared/commands/comment.ts';
import { changesByPatch } from '../patch-content.ts';
import type { CommentState } from './comment.ts';

const UNKNOWN = ['/author/name', '/createdAt', '/updatedAt', '/_links'] as const;

/** The edit that a JSON patch comes to. Where there is no text to patch it names none, and the decider says why. */
export const editByPatch = ({ commentId, patch }: PatchComment, state: CommentState): EditComment => {
  if (state.status !== 'present' || state.text === null) return { type: 'EditComment', commentId, text: '' };
  const { text, articleId, authorId } = state;
  const fixed = { id: commentId, articleId, author: { id: authorId } };
  const changes = changesByPatch(CommentContent, { content: { text }, fixed, unknown: UNKNOWN }, patch);
  return { type: 'EditComment', commentId, text, ...changes };
};
