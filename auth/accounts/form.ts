import express, { type Request, type RequestHandler } from 'express';
import * as z from 'zod';
import { FORGED, MALFORMED } from '../pages/message-page.ts';
import { PageRefusal } from './page-refusal.ts';

/** A form of ours has short fields. */
const FORM_BYTES_MAX = 8_192;
/** A field for each scope of a domain, at most. */
const FORM_FIELDS_MAX = 200;

const TOKEN_MAX = 100;
export const formToken = z.string().max(TOKEN_MAX);

/**
 * Before the fields of a form are looked at: it must come from a page of our own origin, where the browser
 * says so. The token decides; this keeps out what has stolen one.
 */
export const readForm: readonly RequestHandler[] = [
  (request, _response, next) => {
    const site = request.get('Sec-Fetch-Site');
    if (site !== undefined && site !== 'same-origin') throw new PageRefusal(FORGED);
    next();
  },
  express.urlencoded({ extended: false, limit: FORM_BYTES_MAX, parameterLimit: FORM_FIELDS_MAX }),
];

/**
 * The fields as the schema has them. A field that is missing, repeated, or longer than its page allows is
 * nobody's typing.
 */
export const fieldsOf = <Fields>(schema: z.ZodType<Fields>, request: Request): Fields => {
  const fields = schema.safeParse(request.body);
  if (!fields.success) throw new PageRefusal(MALFORMED);
  return fields.data;
};
