import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { OpenApiOptions } from './document.ts';

/** Like the resources, also under the prefix. */
const pathsOf = (name: string): string[] => [`/${name}`, `/api/${name}`];
const JSON_PATHS = pathsOf('openapi.json');
const YAML_PATHS = pathsOf('openapi.yaml');

/** The document is made at the first request for it, in each form. */
export const openApiRoutes = (options: OpenApiOptions, eventLog: Pick<EventLog, 'identity'>): Router =>
  Router()
    .get(
      JSON_PATHS,
      routesWhenAsked(async () => (await import('./document.ts')).answerOpenApi(options, eventLog)),
    )
    .get(
      YAML_PATHS,
      routesWhenAsked(async () => (await import('./document.ts')).answerOpenApiInYaml(options, eventLog)),
    )
    .all([...JSON_PATHS, ...YAML_PATHS], refuseOtherMethods('GET', 'HEAD'));
