import type { Response } from 'express';
import { type Coding, compressAs, THOROUGH } from '#edge/http/content-coding.ts';

/** Bytes that are sent many times. */
export type Compressible = {
  /** In one encoding, computed at the first request for it. */
  in(coding: Coding): Promise<Buffer>;
};

export const compressible = (bytes: Buffer): Compressible => {
  const made = new Map<Coding, Promise<Buffer>>();
  return {
    in(coding) {
      const known = made.get(coding);
      if (known !== undefined) return known;
      const content = compressAs(coding, bytes, THOROUGH);
      made.set(coding, content);
      // A failure reaches the requests that wait for it; the next one retries.
      content.catch(() => made.delete(coding));
      return content;
    },
  };
};

export const sendCompressible = async (
  response: Response,
  content: Compressible,
  coding: Coding,
): Promise<void> => {
  const bytes = await content.in(coding);
  if (coding !== 'identity') response.set('Content-Encoding', coding);
  response.send(bytes);
};
