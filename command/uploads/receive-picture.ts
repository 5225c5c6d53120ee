import type { Request } from 'express';
import type { ImageType } from '#shared/blobs/image-type.ts';
import {
  demandPictureType,
  PICTURE_BYTES_MAX,
  type Picture,
  pictureTooLarge,
  receivePicture,
  unsupportedPicture,
} from '#shared/blobs/picture.ts';
import { demandBodyRate } from '#shared/http/body-time.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';

/** What the headers say of a picture; refuses what cannot be one before any of it is read. */
export const demandPicture = (request: Request): ImageType => {
  const type = demandPictureType(request.get('Content-Type') ?? '');
  if (!/^(?:identity)?$/i.test(request.get('Content-Encoding') ?? ''))
    throw unsupportedPicture('Send the picture without a Content-Encoding.');
  if (request.get('Content-Range') !== undefined)
    throw new HttpProblem('malformed_request', { detail: 'Send the whole picture, without Content-Range.' });
  if (Number(request.get('Content-Length') ?? 0) > PICTURE_BYTES_MAX) throw pictureTooLarge();
  return type;
};

/** Leaving the body early does not destroy the connection, on which the answer goes. */
export const receiveBody = (request: Request, type: ImageType): Promise<Picture> => {
  demandBodyRate(request, BYTES_PER_SECOND_MIN);
  return receivePicture(request.iterator({ destroyOnReturn: false }), type);
};

/** A telephone with a poor line has as much; the largest picture then takes five minutes and a half. */
const BYTES_PER_SECOND_MIN = 32_768;
