import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { SchemaOptions } from './schemas.ts';

/** Like the resources, also under the prefix. */
const PATHS = ['', '/api'].map((prefix) => `${prefix}/schemas/events/:type{/:version}`);

/** The JSON Schema of each event type at an address of its own, public as `GET /event-types`. */
export const eventSchemaRoutes = (options: SchemaOptions): Router =>
  Router()
    .get(
      PATHS,
      routesWhenAsked(async () => (await import('./schemas.ts')).answerEventSchema(options)),
    )
    .all(PATHS, refuseOtherMethods('GET', 'HEAD'));
