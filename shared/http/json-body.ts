import express, { type RequestHandler } from 'express';
import { HttpProblem } from './http-problem.ts';

const JSON_TYPES = ['application/json', 'application/*+json'];

/** Reads a JSON body, in UTF-8, up to a size; a body of another media type is refused, not overlooked. */
export const readJsonBody = (bytesMax: number, types: readonly string[] = JSON_TYPES): RequestHandler[] => [
  (request, _response, next) => {
    // `is` answers null where there is no body.
    if (request.is([...types]) === false) throw new HttpProblem('unsupported_media_type', { detail: `Send ${types.join(' or ')}.` });
    next();
  },
  express.json({ limit: bytesMax, type: [...types] }),
];
