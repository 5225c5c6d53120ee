import type { Router } from 'express';
import { type WriteDependencies, writeRoutes } from './write-routes.ts';

export const userRoutes = (dependencies: WriteDependencies): Router =>
  writeRoutes(dependencies, '/users', {
    createUser: (_, user) => ({ type: 'RegisterUser', ...user }),
    replaceUser: (item, user) => ({ type: 'UpdateUser', ...item, ...user }),
    editUser: (item, changes) =>
      Array.isArray(changes) ? { type: 'PatchUser', ...item, patch: changes } : { type: 'UpdateUser', ...item, ...changes },
    deleteUser: (item) => ({ type: 'DeleteUser', ...item }),
  });
