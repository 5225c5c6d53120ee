import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { requestFact } from './request-fact.ts';

const ids = requestFact<string>('id');

/** The request ids accepted from outside for logs and events: nothing that could break a line or a header. */
const ACCEPTABLE = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/;

/** Gives every request an id, the sender’s own if it is harmless, and returns it in the response. */
export const identifyRequest: RequestHandler = (request, response, next) => {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID();
  ids.set(request, id);
  response.setHeader('X-Request-Id', id);
  next();
};

/** The id of a request that has passed `identifyRequest`. */
export const requestIdOf = (request: IncomingMessage): string => {
  const id = ids.of(request);
  if (id === undefined) throw new Error('the request has not passed identifyRequest');
  return id;
};
