import type { Request } from 'express';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { CLOUD_EVENT_TYPE, CLOUD_EVENTS_TYPE } from '#kernel/base/rest/cloud-event-types.ts';

/** An item is the same in both; a list has its links in the second, too. */
const MEDIA_TYPES = ['application/json', 'application/hal+json'] as const;
/** Of events, which are also CloudEvents. */
const OF_EVENTS = {
  item: [...MEDIA_TYPES, CLOUD_EVENT_TYPE],
  list: [...MEDIA_TYPES, CLOUD_EVENTS_TYPE],
} as const;
export type MediaType = (typeof OF_EVENTS)[keyof typeof OF_EVENTS][number];

/**
 * The media type that the request prefers; checked before anything is read or done. `events` says which read of
 * events it is, if any.
 */
export const mediaTypeFor = (request: Request, events?: keyof typeof OF_EVENTS): MediaType =>
  events === undefined
    ? demandPreferredType(request, MEDIA_TYPES)
    : demandPreferredType<MediaType>(request, OF_EVENTS[events]);
