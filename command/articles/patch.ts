import { ArticleContent, type EditArticle, type PatchArticle } from '#shared/commands/article.ts';
import { changesByPatch } from '../patch-content.ts';
import type { ArticleState } from './article.ts';

const UNKNOWN = ['/author/name', '/createdAt', '/updatedAt', '/publishedAt', '/_links'] as const;

/** The edit that a JSON patch comes to. Where there is nothing to patch it changes nothing, and the decider says why. */
export const editByPatch = ({ articleId, patch }: PatchArticle, state: ArticleState): EditArticle => {
  if (state.status === 'absent' || state.status === 'deleted') return { type: 'EditArticle', articleId };
  const { title, body, tags, cover, status, authorId } = state;
  const fixed = { id: articleId, status, author: { id: authorId } };
  const changes = changesByPatch(ArticleContent, { content: { title, body, tags, cover }, fixed, unknown: UNKNOWN }, patch);
  return { type: 'EditArticle', articleId, ...changes };
};
