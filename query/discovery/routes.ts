import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import { API_CATALOG_PATH } from './api.ts';
import type { CatalogOptions } from './api-catalog.ts';

/** The catalog is made at the first request for it. */
export const apiCatalogRoutes = (options: CatalogOptions): Router =>
  Router()
    .get(
      API_CATALOG_PATH,
      routesWhenAsked(async () => (await import('./api-catalog.ts')).answerApiCatalog(options)),
    )
    .all(API_CATALOG_PATH, refuseOtherMethods('GET', 'HEAD'));
