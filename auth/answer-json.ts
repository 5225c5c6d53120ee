import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { entityTagOf, isKnownToReader } from '#shared/http/entity-tag.ts';
import { preferredType } from '#shared/http/media-type.ts';
import { requestFact } from '#shared/http/request-fact.ts';

/** A program that does not say what it accepts gets JSON; browsers ask for HTML. */
const TYPES = ['application/json', 'text/html'] as const;
const FORM = 'application/x-www-form-urlencoded';

/** Whether a program asks, at a path that is a page for browsers and an interface for programs. */
export const isProgram = (request: IncomingMessage): boolean =>
  request.headers.authorization !== undefined ||
  (request.headers['content-type']?.startsWith(FORM) !== true &&
    preferredType(request, TYPES) === 'application/json');

const programs = requestFact<true>('program');

/** A request that an interface for programs handles: its errors are problem documents, not pages. */
export const forPrograms: RequestHandler = (request, _response, next) => {
  programs.set(request, true);
  next();
};

export const isForPrograms = (request: IncomingMessage): boolean => programs.of(request) === true;

/**
 * Answers with JSON that depends on who asks. A reader who has it already is not sent it again; what a write
 * answers is kept nowhere.
 */
export const answerJson = (
  request: IncomingMessage,
  response: Response,
  { text, version }: { readonly text: string; readonly version: number },
): void => {
  const tag = response.get('ETag') ?? entityTagOf(version, text);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  response
    .set({ ETag: tag, 'Cache-Control': isRead ? 'private, no-cache' : 'no-store' })
    .vary('Authorization');
  if (isRead && isKnownToReader(request, tag)) response.status(304).end();
  else response.type('json').send(text);
};
