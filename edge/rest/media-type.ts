import type { Request } from 'express';
import { demandPreferredType } from '#edge/http/media-type.ts';

/** An item is the same in both; a list has its links in the second, too. */
const MEDIA_TYPES = ['application/json', 'application/hal+json'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** The media type that the request prefers; checked before anything is read or done. */
export const mediaTypeFor = (request: Request): MediaType => demandPreferredType(request, MEDIA_TYPES);
