import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { OpenApiOptions } from './document.ts';

/** Like the resources, also under the prefix. */
const PATHS = ['/openapi.json', '/api/openapi.json'];

/** The document is made at the first request for it. */
export const openApiRoutes = (options: OpenApiOptions, eventLog: Pick<EventLog, 'identity'>): Router => {
  const answer = routesWhenAsked(async () =>
    (await import('./document.ts')).answerOpenApi(options, eventLog),
  );
  return Router().get(PATHS, answer).all(PATHS, refuseOtherMethods('GET', 'HEAD'));
};
