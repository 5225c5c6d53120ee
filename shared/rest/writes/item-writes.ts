import { Router } from 'express';
import { aggregateRoutes } from './aggregates.ts';
import { webhookRoutes } from './webhooks.ts';
import type { WriteDependencies } from './write-routes.ts';

/** The writes of items but for pictures. `command` serves them, and `query` those that ask for the item as it is then. */
export const itemWrites = (dependencies: WriteDependencies): Router =>
  Router().use(aggregateRoutes(dependencies), webhookRoutes(dependencies));
