import { type RequestHandler, Router } from 'express';
import { type GraphQLSchema, printSchema } from 'graphql';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { answerDocument } from '#edge/pages/answer-document.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import { admit } from '#shared/policy.ts';

const PATH = '/graphql/schema.graphql';

type Options = {
  /** The schema as operations see it now: composed services change it. */
  schemaNow(): GraphQLSchema;
  /** Whether everybody may read it. */
  readonly introspection: boolean;
};

/** The schema as a document, for those who may read it by introspection. */
export const schemaRoute = ({ schemaNow, introspection }: Options): Router => {
  const headers = { 'Cache-Control': introspection ? 'public, no-cache' : 'private, no-cache' };
  // Printed at the first request for it.
  const answerOf = oncePer((schema: GraphQLSchema) =>
    answerDocument({ type: 'text/plain', text: `${printSchema(schema)}\n`, headers }),
  );
  const answer: RequestHandler = (request, response, next) => {
    if (!introspection) {
      response.vary('Authorization');
      const admission = admit(callerOf(request), 'schema.read');
      if (admission !== 'allowed') throw admission;
    }
    return answerOf(schemaNow())(request, response, next);
  };
  return Router().get(PATH, answer).all(PATH, refuseOtherMethods('GET', 'HEAD'));
};
