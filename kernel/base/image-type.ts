/** The types of images that can be uploaded. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export const PICTURE_BYTES_MAX = 10 * 1_048_576;

/** The number of bytes that identify the type of a file. */
export const HEAD_BYTES = 256;

/**
 * The type of an image by its first bytes, whatever its sender calls it; undefined for all others, such as
 * SVG.
 */
export const imageTypeOf = (head: Uint8Array): ImageType | undefined => {
  const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES)).toString(
    'latin1',
  );
  if (text.startsWith('\x89PNG\r\n\x1a\n\0\0\0\rIHDR')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(text)) return 'image/gif';
  if (text.startsWith('RIFF') && /^WEBPVP8[ LX]/.test(text.slice(8))) return 'image/webp';
  return isAvif(text) ? 'image/avif' : undefined;
};

const BRAND_CHARACTERS = 4;
const COMPATIBLE_BRANDS_AT = 16;

/**
 * Its first box is `ftyp` and names the brand, as its own or among the compatible ones (AV1 Image File
 * Format, section 6).
 */
const isAvif = (text: string): boolean => {
  if (text.slice(4, 8) !== 'ftyp') return false;
  const boxBytes = Buffer.from(text.slice(0, 4), 'latin1').readUInt32BE();
  const brands = [text.slice(8, 12)];
  for (
    let at = COMPATIBLE_BRANDS_AT;
    at + BRAND_CHARACTERS <= Math.min(boxBytes, text.length);
    at += BRAND_CHARACTERS
  )
    brands.push(text.slice(at, at + BRAND_CHARACTERS));
  return brands.some((brand) => brand === 'avif' || brand === 'avis');
};
