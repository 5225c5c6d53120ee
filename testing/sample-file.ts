import { fitsType } from '#kernel/base/file-type.ts';
import type { Accepted } from '#kernel/decide/accepted-files.ts';

/** The smallest possible picture. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export type SampleFile = { readonly body: Buffer; readonly type: string };

/** The smallest files that the first bytes of a type allow. */
const STARTS: readonly Buffer[] = [
  PIXEL,
  ...[
    'A file\n',
    '%PDF-1.7\n',
    'PK\x03\x04',
    '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    '\xff\xd8\xff',
    'GIF89a',
    'RIFF\0\0\0\0WEBPVP8 ',
    '\0\0\0\x14ftypavif\0\0\0\0avif',
    '\0\0\0\x14ftypheic\0\0\0\0heic',
    '\0\0\0\x14ftypisom\0\0\0\0isom',
    'II*\0',
    'BM\0\0\0\0\0\0\0\0',
    '\x1aE\xdf\xa3',
    'ID3',
    'OggS',
    'fLaC',
    'RIFF\0\0\0\0WAVE',
    '{\\rtf',
    '\x1f\x8b',
    "7z\xbc\xaf'\x1c",
  ].map((text) => Buffer.from(text, 'latin1')),
];

/** A file that the field accepts; undefined if it has room for none. */
export const sampleFor = ({ types, bytesMax }: Accepted): SampleFile | undefined => {
  for (const type of types) {
    const body = STARTS.find((start) => start.length <= bytesMax && fitsType(type, start));
    if (body !== undefined) return { body, type };
  }
  return undefined;
};

/** The same; a file that is refused if the field has room for none. */
export const anyFor = (accepted: Accepted): SampleFile =>
  sampleFor(accepted) ?? { body: Buffer.from('x'), type: accepted.types[0] ?? '' };

/** Files of accepted types whose first bytes belong to another; none if any bytes fit each type. */
export const falseSamplesFor = ({ types, bytesMax }: Accepted): readonly SampleFile[] =>
  types
    .flatMap((type) => {
      const body = STARTS.find((start) => start.length <= bytesMax && !fitsType(type, start));
      return body === undefined ? [] : [{ body, type }];
    })
    .slice(0, 1);
