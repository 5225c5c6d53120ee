import type { Router } from 'express';
import { type WriteDependencies, writeRoutes } from './write-routes.ts';

export const webhookRoutes = (dependencies: WriteDependencies): Router =>
  writeRoutes(dependencies, '/webhooks', {
    createWebhook: (_, webhook) => ({ type: 'RegisterWebhook', ...webhook }),
    replaceWebhook: (item, webhook) => ({ type: 'ReplaceWebhook', ...item, ...webhook }),
    editWebhook: (item, changes) =>
      Array.isArray(changes) ? { type: 'PatchWebhook', ...item, patch: changes } : { type: 'EditWebhook', ...item, ...changes },
    deleteWebhook: (item) => ({ type: 'DeleteWebhook', ...item }),
    rotateWebhookSecret: (item) => ({ type: 'RotateWebhookSecret', ...item }),
    enableWebhook: (item) => ({ type: 'EnableWebhook', ...item }),
    disableWebhook: (item) => ({ type: 'DisableWebhook', ...item, reason: 'owner' }),
  });
