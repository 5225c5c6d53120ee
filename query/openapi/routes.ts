import { Router } from 'express';
import { refuseOtherMethods } from '#shared/http/answer-errors.ts';
import { answerDocument } from '../pages/answer-document.ts';
import { type OpenApiOptions, openApiDocument } from './document.ts';

/** `GET /openapi.json`: the interface, for programs. */
export const openApiRoutes = (options: OpenApiOptions): Router =>
  Router()
    .get('/openapi.json', answerDocument({ type: 'application/json', text: JSON.stringify(openApiDocument(options)) }))
    .all('/openapi.json', refuseOtherMethods('GET', 'HEAD'));
