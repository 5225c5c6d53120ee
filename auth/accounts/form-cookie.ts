import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';

/**
 * Identifies a browser if there is no interaction to bind a form to. Over https its name has the prefix
 * `__Host-`, so that no other host and no plain connection can set it; over http, on localhost, browsers
 * would refuse that prefix.
 */
export type FormCookie = {
  /** Returns the browser's value, and sets one if it has none. */
  settle(request: Request, response: Response): string;
  read(request: Request): string | undefined;
};

const VALUE_BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export const createFormCookie = (issuerUrl: string): FormCookie => {
  const isSecure = new URL(issuerUrl).protocol === 'https:';
  const name = isSecure ? '__Host-annals_form' : 'annals_form';
  const read = (request: Request): string | undefined => {
    const pairs = (request.get('Cookie') ?? '').split(';').map((pair) => pair.trim());
    const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
    return value !== undefined && VALUE.test(value) ? value : undefined;
  };
  return {
    read,
    settle(request, response) {
      const known = read(request);
      if (known !== undefined) return known;
      const value = randomBytes(VALUE_BYTES).toString('base64url');
      response.cookie(name, value, { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' });
      return value;
    },
  };
};
