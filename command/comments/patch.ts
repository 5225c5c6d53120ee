import { CommentContent, type EditComment, type PatchComment } from '#shared/commands/comment.ts';
import { patchContent } from '../json-patch.ts';
import type { CommentState } from './comment.ts';

/** The edit that a JSON patch comes to. Where there is no text to patch it names none, and the decider says why. */
export const editByPatch = ({ commentId, patch }: PatchComment, state: CommentState): EditComment => {
  if (state.status !== 'present' || state.text === null) return { type: 'EditComment', commentId, text: '' };
  return { type: 'EditComment', commentId, ...patchContent(CommentContent, { text: state.text }, patch) };
};
