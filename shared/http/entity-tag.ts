import { hash } from 'node:crypto';
import type { Request } from 'express';
import { HttpProblem } from './http-problem.ts';

const DIGEST_CHARACTERS = 16;

/** A strong entity tag: the version tells writers what they change, the digest tells readers whether they have these very bytes. */
export const entityTagOf = (version: number, representation: string): string =>
  `"${version}-${hash('sha256', representation, 'base64url').slice(0, DIGEST_CHARACTERS)}"`;

/** Proxies that compress an answer make its tag a weak one; the version part says the same still. */
const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const TAG_LIST = /^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*\s*$/;
const VERSION = /^(\d{1,15})-/;
/** No item ever has it: a tag that we did not make matches nothing. */
const NO_VERSION = -1;

const tagsOf = (header: string): readonly string[] => [...header.matchAll(TAG)].map(([, tag = '']) => tag);

/** The version that `If-Match` demands (RFC 9110, section 13.1.1), if it demands one. */
export const versionDemandedBy = (request: Request): number | undefined => {
  const header = request.get('If-Match');
  if (header === undefined || header.trim() === '*') return undefined;
  if (!TAG_LIST.test(header)) throw new HttpProblem('malformed_request', { detail: 'If-Match must hold the ETag of the item.' });
  const versions = new Set(tagsOf(header).map((tag) => Number(VERSION.exec(tag)?.[1] ?? NO_VERSION)));
  const [version, ...others] = versions;
  if (others.length > 0) throw new HttpProblem('malformed_request', { detail: 'If-Match must hold one ETag.' });
  return version;
};

/** Whether the reader already has what the tag stands for (RFC 9110, section 13.1.2). */
export const isKnownToReader = (request: Request, entityTag: string): boolean => {
  const header = request.get('If-None-Match');
  if (header === undefined) return false;
  return header.trim() === '*' || tagsOf(header).some((tag) => `"${tag}"` === entityTag);
};
