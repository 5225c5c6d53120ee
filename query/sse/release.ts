import type { Request, Response } from 'express';
import { forgetPresented } from '#edge/authenticate/credentials.ts';
import { OutgoingMessage } from '#edge/http/node-http.ts';

/**
 * Drops the parts of a request that nobody needs any more, but that would live as long as the stream: above
 * all, the token.
 */
export const releaseRequest = (request: Request): void => {
  request.rawHeaders = NO_RAW_HEADERS;
  request.headers = NO_HEADERS;
  request.headersDistinct = NO_HEADERS;
  request.body = undefined;
  request.params = NO_PARAMS;
  request.next = undefined;
  Object.assign(request, NOT_PARSED);
  forgetPresented(request);
};

const NO_RAW_HEADERS: string[] = [];
const NO_HEADERS = {};
const NO_PARAMS = {};
/** Express parses the URL again on demand. */
const NOT_PARSED = { _parsedUrl: undefined };

/** Frees the sent headers: from here on, only whether they were sent matters. */
export const releaseHeaders = (response: Response): void => {
  if (!response.headersSent) return;
  response.locals = NO_LOCALS;
  Object.assign(response, SENT);
};

const NO_LOCALS = {};
const OUT_HEADERS = Object.getOwnPropertySymbols(new OutgoingMessage()).find(
  ({ description }) => description === 'kOutHeaders',
);
const SENT = { _header: 'sent', ...(OUT_HEADERS !== undefined && { [OUT_HEADERS]: null }) };
