import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { Rejection } from '#kernel/base/rejection.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';

const DIGEST_CHARACTERS = 16;

/**
 * A strong entity tag: the version identifies the change to writers, and the digest the exact bytes to
 * readers.
 */
export const entityTagOf = (version: number | undefined, representation: string): string =>
  `"${version ?? ''}-${hash('sha256', representation, 'base64url').slice(0, DIGEST_CHARACTERS)}"`;

/**
 * The tag in the response to a write: the version alone, for the precondition of the next write. It is no tag
 * of a representation, because the response has none (RFC 9110, section 9.3.4); a reader that sends it gets
 * the item.
 */
export const versionTagOf = (version: number): string => `"${version}-"`;

/** Proxies that compress a response weaken its tag; the version part stays the same. */
const TAG = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;
const TAGS_MAX = 100;
const VERSION = /^(\d{1,15})-/;
/** No item has this version: a foreign tag matches nothing. */
const NO_VERSION = -1;

const tagsOf = (header: string): readonly string[] => [...header.matchAll(TAG)].map(([, tag = '']) => tag);

/** The versions that `If-Match` accepts (RFC 9110, section 13.1.1); undefined if it accepts any. */
export const versionsDemandedBy = (request: Request): readonly number[] | undefined => {
  const versions = versionsIn(request, 'If-Match');
  return versions === 'any' ? undefined : versions;
};

/**
 * The versions that `If-None-Match` forbids to change (section 13.1.2): a tag of another representation of
 * the same version counts too.
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
  if (!isTagList(header) || tags.length > TAGS_MAX) throw malformed(name);
  return [...new Set(tags.map((tag) => Number(VERSION.exec(tag)?.[1] ?? NO_VERSION)))];
};

const malformed = (name: string): HttpProblem =>
  new HttpProblem('malformed_request', { detail: `${name} must hold * or the ETag of the item.` });

/** A character that no header can hold. */
const IN_PLACE_OF_TAG = '\0';

/** Members may be empty (RFC 9110, section 5.6.1.2), as after a comma at the end. */
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

/**
 * Refuses a read whose `If-Match` names neither the tagged bytes nor the version of the item (RFC 9110, section
 * 13.1.1).
 */
export const demandMatch = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  entityTag: string,
  version?: number,
): void => {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return;
  if (!isTagList(header)) throw malformed('If-Match');
  const isMet = tagsOf(header).some(
    (tag) =>
      `"${tag}"` === entityTag || (version !== undefined && Number(VERSION.exec(tag)?.[1]) === version),
  );
  if (!isMet) throw new Rejection('version_mismatch', version === undefined ? {} : { version });
};

/** Whether the reader already has the tagged bytes (RFC 9110, section 13.1.2). */
export const isKnownToReader = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  entityTag: string,
): boolean => {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return header.trim() === '*' || tagsOf(header).some((tag) => `"${tag}"` === entityTag);
};
