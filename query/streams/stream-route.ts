import type { Request, RequestHandler, Response } from 'express';
import { demandPreferredType } from '#edge/http/media-type.ts';
import { CLOUD_EVENTS_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { Live } from '../live/live.ts';
import { EVENT_STREAM_TYPE, type EventStream } from '../sse/event-stream.ts';

export type StreamDependencies = Pick<Live, 'streams' | 'demandPresentRole'> & {
  readonly before: readonly RequestHandler[];
};

type Streamed = {
  /** Throws if the caller may not follow it at all. */
  admit(request: Request): void;
  /** Refuses bad parameters; the result begins to send. */
  prepare(request: Request, response: Response): Promise<(stream: EventStream) => Disposable>;
  /** Its pages are also CloudEvents. */
  readonly isOfEvents?: true;
};

const TYPES = ['application/json', 'application/hal+json', EVENT_STREAM_TYPE] as const;
const OF_EVENTS = [...TYPES, CLOUD_EVENTS_TYPE] as const;

/** A list as server-sent events for clients that prefer them; other requests fall through to its pages. */
export const streamHandlers = (
  { streams, demandPresentRole, before }: StreamDependencies,
  { admit, prepare, isOfEvents }: Streamed,
): readonly RequestHandler[] => [
  (request, _response, next) => {
    const type = isOfEvents ? demandPreferredType(request, OF_EVENTS) : demandPreferredType(request, TYPES);
    next(type === EVENT_STREAM_TYPE ? undefined : 'route');
  },
  (request, _response, next) => {
    admit(request);
    next();
  },
  ...before,
  async (request, response) => {
    const join = await prepare(request, response);
    response.vary('Accept, Authorization');
    if (request.method === 'HEAD')
      return void response.type(EVENT_STREAM_TYPE).set('Cache-Control', 'no-cache').end();
    await demandPresentRole(request);
    const stream = streams.open(request, response);
    const membership = join(stream);
    stream.onClose(() => membership[Symbol.dispose]());
  },
];
