import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { refuseUnknownPath } from './answer-errors.ts';
import type { FastPath } from './fast-path.ts';
import { inSequence } from './in-sequence.ts';
import { requestFact } from './request-fact.ts';

type Added = {
  readonly method: string;
  /** As Express writes it: words, and parameters such as `:id`. */
  readonly route: string;
  readonly handlers: readonly RequestHandler[];
  /** Whether the router may come first, because something before this route may take the request. */
  readonly isSlow?: boolean;
};

/**
 * Routes that a fast path finds by method, first segment and number of segments. It takes only paths as clients
 * find them in links. All others, such as with another case or with a slash at the end, are for the router.
 */
export type FastRoutes = {
  /** In the order in which the router compares them. */
  add(route: Added): void;
  readonly fastPath: FastPath;
};

type Segment = { readonly word: string } | { readonly parameter: string };

type Route = {
  readonly segments: readonly Segment[];
  readonly isSlow: boolean;
  /** As Express tells the handlers. */
  readonly known: Request['route'];
  readonly handle: RequestHandler;
};

type Found = { readonly route: Route; readonly params: Request['params'] };

export const createFastRoutes = (): FastRoutes => {
  const groups = new Map<string, Route[]>();
  const found = requestFact<Found>('route');
  const find = (request: IncomingMessage): Found | undefined => {
    const { method = '', url = '' } = request;
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (!PLAIN.test(path)) return undefined;
    const given = path.slice(1).split('/');
    const group = groups.get(groupOf(method, given[0] as string, given.length));
    if (group === undefined) return undefined;
    for (const route of group) {
      const params = paramsOf(route, given);
      if (params === 'slow') return undefined;
      if (params !== undefined) return route.isSlow ? undefined : { route, params };
    }
    return undefined;
  };
  const dispatch: RequestHandler = (request, response, next) => {
    const { route, params } = found.of(request) as Found;
    request.params = params;
    request.route = route.known;
    route.handle(request, response, next);
  };
  return {
    add({ method, route, handlers, isSlow = false }) {
      const segments = route.slice(1).split('/').map(segmentOf);
      const [first] = segments;
      if (first === undefined || !('word' in first)) throw new Error(`${route} does not begin with a word`);
      const group = groupOf(method, first.word, segments.length);
      const handle = inSequence(handlers);
      groups.set(group, [...(groups.get(group) ?? []), { segments, isSlow, known: { path: route }, handle }]);
    },
    fastPath: {
      takes(request) {
        const match = find(request);
        if (match === undefined) return false;
        found.set(request, match);
        return true;
      },
      handlers: [dispatch, refuseUnknownPath],
      failures: [],
    },
  };
};

/** Without anything that the router would decode. */
const PLAIN = /^(?:\/[\w.~-]+)+$/;

const groupOf = (method: string, first: string, segments: number): string => `${method} ${segments} ${first}`;

const segmentOf = (text: string): Segment => {
  if (/^[\w.~-]+$/.test(text)) return { word: text };
  if (/^:\w+$/.test(text)) return { parameter: text.slice(1) };
  throw new Error(`A fast route has no segment ${text}`);
};

/** Undefined if the path is not of this route; slow if the router would say otherwise, for which case is equal. */
const paramsOf = ({ segments }: Route, given: readonly string[]): Request['params'] | 'slow' | undefined => {
  const params: Request['params'] = Object.create(null);
  for (let index = 0; index < segments.length; index += 1) {
    const [segment, text] = [segments[index] as Segment, given[index] as string];
    if ('parameter' in segment) params[segment.parameter] = text;
    else if (segment.word !== text)
      return segment.word.toLowerCase() === text.toLowerCase() ? 'slow' : undefined;
  }
  return params;
};
