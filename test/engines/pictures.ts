import { randomBytes } from 'node:crypto';

const ascii = (text: string): Buffer => Buffer.from(text, 'latin1');

const HEADS = {
  'image/png': ascii('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0'),
  'image/jpeg': ascii('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01'),
  'image/gif': ascii('GIF89a\x01\0\x01\0\x80\0\0'),
  'image/webp': ascii('RIFF\0\x10\0\0WEBPVP8L'),
  'image/avif': ascii('\0\0\0\x1cftypavif\0\0\0\0mif1avifmiaf'),
} as const;

export type PictureType = keyof typeof HEADS;
export const PICTURE_TYPES = Object.keys(HEADS) as readonly PictureType[];

/** Bytes that begin like a picture of the type. */
export const picture = (type: PictureType, bytes = 1_000): Buffer => {
  const head = HEADS[type];
  return Buffer.concat([head, randomBytes(Math.max(0, bytes - head.length))]);
};
