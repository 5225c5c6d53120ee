import type { Json } from '../json.ts';

/** Refusals that belong to HTTP itself; those of the domain are `Rejection`s. */
export const HTTP_PROBLEMS = {
  malformed_request: [400, 'The request is malformed.'],
  malformed_body: [400, 'The body does not match its Content-Type.'],
  invalid_parameter: [400, 'Some parameters are invalid.'],
  preflight_required: [400, 'File uploads need a header that a form of another site cannot send.'],
  unknown_cursor: [400, 'The cursor does not belong to this list, or to this installation.'],
  cursor_of_lost_history: [
    400,
    'The event log has lost events since this cursor was issued: read the data again, and start from now.',
  ],
  invalid_request: [422, 'Some fields are invalid.'],
  invalid_token: [401, 'The access token is not valid.'],
  invalid_dpop_proof: [401, 'The proof of possession is not valid.'],
  invalid_signature: [401, 'The signature of the message is not valid.'],
  invalid_assertion: [401, 'The assertion of the caller is not valid.'],
  not_found: [404, 'There is nothing at this path.'],
  not_there_then: [404, 'The item did not exist at that time.'],
  version_not_found: [404, 'The item has no such version.'],
  method_not_allowed: [405, 'This path does not accept the method.'],
  not_acceptable: [406, 'The response is not available in any media type that the request accepts.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  body_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'This path does not accept the media type of the body.'],
  range_not_satisfiable: [416, 'The file has no bytes in the requested range.'],
  precondition_required: [428, 'The request must name the version that it changes, in If-Match.'],
  headers_too_large: [431, 'The request line and headers are too large.'],
  rate_limited: [429, 'Too many requests; wait for the time in Retry-After.'],
  stream_conflict: [409, 'The stream is already open.'],
  too_many_streams: [429, 'Too many streams of events are open.'],
  too_slow: [503, 'The client reads the stream too slowly; resume after the last id.'],
  overloaded: [503, 'The service is overloaded; try again.'],
  unavailable: [503, 'The service is temporarily unavailable; try again.'],
  not_yet_visible: [503, 'The change that Consistency-Token names cannot be read yet; try again.'],
  parked: [
    503,
    'The item is parked because of one of its events; an operator has to retry it, or skip the event.',
  ],
  internal: [500, 'Something went wrong on our side.'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

export type HttpProblemCode = keyof typeof HTTP_PROBLEMS;

/** A refusal by the transport: thrown by a route or middleware, answered by `answerErrors`. */
export class HttpProblem extends Error {
  readonly code: HttpProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, Json>>;

  constructor(code: HttpProblemCode, options: HttpProblemOptions = {}) {
    super(options.detail ?? HTTP_PROBLEMS[code][1], options);
    this.name = 'HttpProblem';
    this.code = code;
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

type HttpProblemOptions = ErrorOptions & {
  readonly detail?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members beside the standard ones, such as `errors`. */
  readonly extensions?: Readonly<Record<string, Json>>;
};
