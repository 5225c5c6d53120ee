import { ArticleContent, type EditArticle, type PatchArticle } from '#shared/commands/article.ts';
import { patchContent } from '../json-patch.ts';
import type { ArticleState } from './article.ts';

/** The edit that a JSON patch comes to. Where there is nothing to patch it changes nothing, and the decider says why. */
export const editByPatch = ({ articleId, patch }: PatchArticle, state: ArticleState): EditArticle => {
  if (state.status === 'absent' || state.status === 'deleted') return { type: 'EditArticle', articleId };
  const { title, body, tags, cover } = state;
  return { type: 'EditArticle', articleId, ...patchContent(ArticleContent, { title, body, tags, cover }, patch) };
};
