import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { entityTagOf, isKnownToReader } from '#shared/http/entity-tag.ts';
import { preferredType } from '#shared/http/media-type.ts';

const TYPES = ['text/html', 'application/json'] as const;

/** Some paths are a page for browsers and an interface for programs: a program sends a token, or asks for JSON. */
export const isForPrograms = (request: IncomingMessage): boolean =>
  request.headers.authorization !== undefined || preferredType(request, TYPES) === 'application/json';

/** Answers with JSON that depends on who asks. A reader who has it already is not sent it again; what a write answers is kept nowhere. */
export const answerJson = (
  request: IncomingMessage,
  response: Response,
  { text, version }: { readonly text: string; readonly version: number },
): void => {
  const tag = response.get('ETag') ?? entityTagOf(version, text);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  response.set({ ETag: tag, 'Cache-Control': isRead ? 'private, no-cache' : 'no-store' }).vary('Authorization');
  if (isRead && isKnownToReader(request, tag)) response.status(304).end();
  else response.type('json').send(text);
};
