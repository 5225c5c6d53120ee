import type { Request } from 'express';
import * as z from 'zod';
import type { Answer } from '#kernel/base/rest/operation.ts';

/** The response that a write requests by `Prefer` (RFC 7240, section 4.2). */
type Preference = 'minimal' | 'representation';

/** A response with a secret is always complete, because no other contains the secret. */
export const takesPreference = ({ kind, schema }: Answer): boolean =>
  kind === 'written' && !(schema instanceof z.ZodObject && 'secret' in schema.shape);

export const preferenceOf = (request: Pick<Request, 'get'>, answer: Answer): Preference | undefined => {
  const header = request.get('Prefer');
  if (header === undefined || !takesPreference(answer)) return undefined;
  const preference = preferredReturn(header);
  return preference === 'minimal' || (preference === 'representation' && answer.item !== undefined)
    ? preference
    : undefined;
};

/**
 * Commas and semicolons within quotes separate nothing. An open quote extends to the end, so that no text
 * takes long to parse.
 */
const MEMBER = /(?:[^,"]|"(?:[^"\\]|\\.?)*(?:"|$))+/gs;
const RETURN = /^\s*return\s*=\s*("?)([^\s";]*)\1\s*(?:;|$)/i;

/** Of several, the first counts (section 2). */
const preferredReturn = (header: string): string | undefined => {
  const values = [...header.matchAll(MEMBER)].map(([member]) => RETURN.exec(member)?.[2]);
  return values.find((value) => value !== undefined);
};
