import type { Request } from 'express';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';

/**
 * The file name that a request gives with its file, by `Content-Disposition: attachment; filename="receipt.pdf"` or
 * `filename*=UTF-8''…` (RFC 6266), of which the latter counts.
 */
export const fileNameIn = (request: Request): string | undefined => {
  const header = request.get('Content-Disposition');
  if (header === undefined) return undefined;
  const [, extended] = EXTENDED.exec(header) ?? [];
  if (extended !== undefined) return decoded(extended);
  const [, quoted, token] = PLAIN.exec(header) ?? [];
  const name = quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
  // Node reads headers as Latin-1, and many clients send UTF-8.
  return name === undefined ? undefined : asUtf8(name);
};

const EXTENDED = /;\s*filename\*\s*=\s*UTF-8'[\w-]*'([^;\s]*)/i;
const PLAIN = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new HttpProblem('malformed_request', {
      detail: 'The file name in Content-Disposition is not well-formed UTF-8.',
      cause,
    });
  }
};

const asUtf8 = (name: string): string => {
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? name : text;
};
