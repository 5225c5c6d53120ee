import express, { type Request, type RequestHandler } from 'express';
import * as z from 'zod';
import { SCOPES_MAX } from '#kernel/base/events/fields.ts';
import { FORGED, MALFORMED } from '../pages/message-page.ts';
import { PageRefusal } from './page-refusal.ts';

/** Our forms have short fields, and at most one for each scope of a domain. */
const FORM_FIELDS_MAX = SCOPES_MAX + 100;
const FORM_BYTES_MAX = 65_536;

const TOKEN_MAX = 100;
export const formToken = z.string().max(TOKEN_MAX);

/**
 * Checks that the form comes from a page of our own origin, if the browser says so, before reading its
 * fields. The token decides; this refuses a stolen token from another site.
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
 * Returns the fields as the schema describes them. A field that is missing, repeated or longer than its page
 * allows was not typed by a person.
 */
export const fieldsOf = <Fields>(schema: z.ZodType<Fields>, request: Request): Fields => {
  const fields = schema.safeParse(request.body);
  if (!fields.success) throw new PageRefusal(MALFORMED);
  return fields.data;
};
