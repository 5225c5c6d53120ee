import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { HttpProblem } from './http-problem.ts';

const DIGEST_CHARACTERS = 16;

/**
 * A strong entity tag: the version tells writers what they change, the digest tells readers whether they have
 * these very bytes.
 */
export const entityTagOf = (version: number | undefined, representation: string): string =>
  `"${version ?? ''}-${hash('sha256', representation, 'base64url').slice(0, DIGEST_CHARACTERS)}"`;

/**
 * What a write answers with: the version alone, by which the next write can name what it changes. It is no
 * tag of a representation, because the answer shows none (RFC 9110, section 9.3.4), and a reader who asks by
 * it is sent the item.
 */
export const versionTagOf = (version: number): string => `"${version}-"`;

/** Proxies that compress an answer make its tag a weak one; the version part says the same still. */
const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const TAGS_MAX = 100;
const VERSION = /^(\d{1,15})-/;
/** No item ever has it: a tag that we did not make matches nothing. */
const NO_VERSION = -1;

const tagsOf = (header: string): readonly string[] => [...header.matchAll(TAG)].map(([, tag = '']) => tag);

/** The versions of which `If-Match` demands one (RFC 9110, section 13.1.1), if it demands any. */
export const versionsDemandedBy = (request: Request): readonly number[] | undefined => {
  const versions = versionsIn(request, 'If-Match');
  return versions === 'any' ? undefined : versions;
};

/**
 * The versions that `If-None-Match` forbids to change (section 13.1.2): a tag of another form of the same
 * version stands for it too.
 */
export const versionsForbiddenBy = (request: Request): readonly number[] | 'any' | undefined =>
  versionsIn(request, 'If-None-Match');

const versionsIn = (
  request: Request,
  name: 'If-Match' | 'If-None-Match',
): readonly number[] | 'any' | undefined => {
  const header = request.get(name);
  if (header === undefined) return undefined;
  if (header.trim() === '*') return 'any';
  const tags = tagsOf(header);
  if (!isTagList(header) || tags.length > TAGS_MAX)
    throw new HttpProblem('malformed_request', { detail: `${name} must hold * or the ETag of the item.` });
  return [...new Set(tags.map((tag) => Number(VERSION.exec(tag)?.[1] ?? NO_VERSION)))];
};

/** What no header can hold. */
const IN_PLACE_OF_TAG = '\0';

/** Members may be empty (RFC 9110, section 5.6.1.2), as a comma at the end makes them. */
const isTagList = (header: string): boolean => {
  const members = header
    .replaceAll(TAG, IN_PLACE_OF_TAG)
    .split(',')
    .map((member) => member.trim());
  return (
    members.includes(IN_PLACE_OF_TAG) &&
    members.every((member) => member === '' || member === IN_PLACE_OF_TAG)
  );
};

/** Whether the reader already has what the tag stands for (RFC 9110, section 13.1.2). */
export const isKnownToReader = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  entityTag: string,
): boolean => {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return header.trim() === '*' || tagsOf(header).some((tag) => `"${tag}"` === entityTag);
};
