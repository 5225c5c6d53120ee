import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { demandMatch, entityTagOf, isKnownToReader } from '#edge/http/entity-tag.ts';
import { preferredType } from '#edge/http/media-type.ts';
import { requestFact } from '#edge/http/request-fact.ts';

/** A program that sends no `Accept` gets JSON; browsers ask for HTML. */
const TYPES = ['application/json', 'text/html'] as const;
const FORM = 'application/x-www-form-urlencoded';

/**
 * Returns whether a program sent the request, for paths that serve pages to browsers and JSON to programs.
 */
export const isProgram = (request: IncomingMessage): boolean =>
  request.headers.authorization !== undefined ||
  (request.headers['content-type']?.startsWith(FORM) !== true &&
    preferredType(request, TYPES) === 'application/json');

const programs = requestFact<true>('program');

/** Marks a request as one of a program: its errors become problem documents, not pages. */
export const forPrograms: RequestHandler = (request, _response, next) => {
  programs.set(request, true);
  next();
};

export const isForPrograms = (request: IncomingMessage): boolean => programs.of(request) === true;

/**
 * Answers with JSON that depends on the caller. A GET supports `If-None-Match`; the answer to a write is
 * never cached.
 */
export const answerJson = (
  request: IncomingMessage,
  response: Response,
  { text, version }: { readonly text: string; readonly version: number },
): void => {
  const tag = response.get('ETag') ?? entityTagOf(version, text);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead) demandMatch(request, tag, version === 0 ? undefined : version);
  response
    .set({ ETag: tag, 'Cache-Control': isRead ? 'private, no-cache' : 'no-store' })
    .vary('Authorization');
  if (isRead && isKnownToReader(request, tag)) response.status(304).end();
  else response.type('json').send(text);
};
