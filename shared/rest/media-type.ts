import type { Request } from 'express';
import { demandPreferredType } from '#shared/http/media-type.ts';

/** Items say the same in both; of lists, the second holds the links too. */
const MEDIA_TYPES = ['application/json', 'application/hal+json'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

/** The media type that the request prefers; demanded before anything is read or done. */
export const mediaTypeFor = (request: Request): MediaType => demandPreferredType(request, MEDIA_TYPES);
