import type { Response } from 'express';
import { type Coding, compressAs, THOROUGH } from '#shared/http/content-coding.ts';

/** Bytes that are sent again and again. */
export type Compressible = {
  /** In each coding made once, when somebody first asks for it. */
  in(coding: Coding): Promise<Buffer>;
};

export const compressible = (bytes: Buffer): Compressible => {
  const made = new Map<Coding, Promise<Buffer>>();
  return {
    in(coding) {
      const content = made.get(coding) ?? compressAs(coding, bytes, THOROUGH);
      made.set(coding, content);
      return content;
    },
  };
};

export const sendCompressible = async (response: Response, content: Compressible, coding: Coding): Promise<void> => {
  const bytes = await content.in(coding);
  if (coding !== 'identity') response.set('Content-Encoding', coding);
  response.send(bytes);
};
