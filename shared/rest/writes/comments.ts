import type { Router } from 'express';
import { type WriteDependencies, writeRoutes } from './write-routes.ts';

export const commentRoutes = (dependencies: WriteDependencies): Router =>
  writeRoutes(dependencies, '/comments', {
    addComment: (item, comment) => ({ type: 'AddComment', ...item, ...comment }),
    replaceComment: (item, comment) => ({ type: 'EditComment', ...item, ...comment }),
    editComment: (item, changes) =>
      Array.isArray(changes) ? { type: 'PatchComment', ...item, patch: changes } : { type: 'EditComment', ...item, ...changes },
    deleteComment: (item) => ({ type: 'DeleteComment', ...item }),
  });
