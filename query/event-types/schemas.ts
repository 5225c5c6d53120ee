import type { Request, RequestHandler } from 'express';
import { answerDocument } from '#edge/pages/answer-document.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type EventType, schemaPathOf } from '#shared/rest/event-types.ts';
import { eventTypesOf } from './event-types.ts';

export type SchemaOptions = {
  readonly domain: Domain;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
};

/** The data of the event, as `GET /event-types` describes it, with an identifier. */
const documentOf = (eventType: EventType, { publicUrl }: SchemaOptions): JsonObject => {
  const { $schema, ...schema } = eventType.schema;
  return {
    ...{ $schema, $id: publicUrl.replace(/\/$/, '') + schemaPathOf(eventType) },
    ...{ title: eventType.type, description: eventType.description },
    ...schema,
    examples: [eventType.example],
  };
};

/**
 * Without a version, the schema of the current one. There are no others: clients get events of former versions in the
 * form of the current one.
 */
export const answerEventSchema = (options: SchemaOptions): RequestHandler => {
  const eventTypes = new Map(eventTypesOf(options.domain).map((each) => [each.type, each]));
  const answers = new Map<string, RequestHandler>();
  const answerOf = (eventType: EventType): RequestHandler => {
    const known = answers.get(eventType.type);
    if (known !== undefined) return known;
    const text = JSON.stringify(documentOf(eventType, options));
    const answer = answerDocument({
      type: 'application/schema+json',
      text,
      headers: { 'Content-Location': schemaPathOf(eventType) },
    });
    answers.set(eventType.type, answer);
    return answer;
  };
  return (request: Request<{ type?: string; version?: string }>, response, next) => {
    const { type = '', version } = request.params;
    const eventType = eventTypes.get(type);
    if (eventType === undefined) throw notFound('There is no event type of this name');
    if (version !== undefined && version !== String(eventType.version))
      throw notFound(`Events of this type have version ${eventType.version}`);
    return answerOf(eventType)(request, response, next);
  };
};

const notFound = (reason: string): HttpProblem =>
  new HttpProblem('not_found', { detail: `${reason}: /event-types lists all of them.` });
