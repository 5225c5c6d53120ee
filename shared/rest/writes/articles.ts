import type { Router } from 'express';
import { type WriteDependencies, writeRoutes } from './write-routes.ts';

export const articleRoutes = (dependencies: WriteDependencies): Router =>
  writeRoutes(dependencies, '/articles', {
    createArticle: (_, article) => ({ type: 'DraftArticle', ...article }),
    replaceArticle: (item, article) => ({ type: 'EditArticle', ...item, ...article }),
    editArticle: (item, changes) =>
      Array.isArray(changes) ? { type: 'PatchArticle', ...item, patch: changes } : { type: 'EditArticle', ...item, ...changes },
    deleteArticle: (item) => ({ type: 'DeleteArticle', ...item }),
    publishArticle: (item) => ({ type: 'PublishArticle', ...item }),
    unpublishArticle: (item) => ({ type: 'UnpublishArticle', ...item }),
  });
