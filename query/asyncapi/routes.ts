import { Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { AsyncApiOptions } from './document.ts';

/** Like the resources, also under the prefix. */
const pathsOf = (name: string): string[] => [`/${name}`, `/api/${name}`];
const JSON_PATHS = pathsOf('asyncapi.json');
const YAML_PATHS = pathsOf('asyncapi.yaml');

/** The document is made at the first request for it, in each form. */
export const asyncApiRoutes = (options: AsyncApiOptions, eventLog: Pick<EventLog, 'identity'>): Router =>
  Router()
    .get(
      JSON_PATHS,
      routesWhenAsked(async () => (await import('./document.ts')).answerAsyncApi(options, eventLog)),
    )
    .get(
      YAML_PATHS,
      routesWhenAsked(async () => (await import('./document.ts')).answerAsyncApiInYaml(options, eventLog)),
    )
    .all([...JSON_PATHS, ...YAML_PATHS], refuseOtherMethods('GET', 'HEAD'));
