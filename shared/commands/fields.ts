import { isUploadPath, UPLOAD_NAME, UPLOADS } from '#shared/blobs/upload-name.ts';
import * as fields from '#shared/events/fields.ts';

/**
 * What commands demand beyond what events do: what was recorded must stay readable, so that a rule that came later can only
 * stand here.
 */

/** A line break would forge a line, and a change of the writing direction would make the rest of a page read backwards. */
const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
/** Format characters stay otherwise: Persian words and many emoji are not written without them. But alone they are nothing to see. */
const VISIBLE = /[^\s\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

const IS_ONE_LINE = { error: 'Must be one line, without control characters and changes of the writing direction.', abort: true };
const IS_VISIBLE = { error: 'Must not be blank.' };

export const name = fields.name.refine((value) => !MISLEADING.test(value), IS_ONE_LINE).refine((value) => VISIBLE.test(value), IS_VISIBLE);
export const title = fields.title
  .refine((value) => !MISLEADING.test(value), IS_ONE_LINE)
  .refine((value) => VISIBLE.test(value), IS_VISIBLE);

/** The characters of RFC 3986 without the apostrophe, because pages put this into an attribute. */
const URL_CHARACTERS = /^https?:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&()*+,;=%]+$/;

const isUpload = (value: string): boolean => isUploadPath(value) && UPLOAD_NAME.test(value.slice(UPLOADS.length));

const isElsewhere = (value: string): boolean => {
  const url = URL_CHARACTERS.test(value) ? URL.parse(value) : null;
  return url !== null && url.username === '' && url.password === '';
};

export const cover = fields.cover
  .refine((value) => isUpload(value) || isElsewhere(value), {
    error: 'Must be the path of an upload, or an http(s) URL in ASCII without a user and a password.',
  })
  .meta({ maxLength: 2_048, pattern: `^(https?://[A-Za-z0-9._~:/?#[\\]@!$&()*+,;=%-]+|${UPLOADS}${UPLOAD_NAME.source.slice(1, -1)})$` });
