import type * as z from 'zod';
import type { Operation } from '../operation.ts';
import type { RejectionCode } from '../rejection.ts';
import type { HttpProblemCode } from './http-problem.ts';

/**
 * One operation of the REST interface. From this follow the check of its requests, the `Allow` header, the
 * OpenAPI document, and the tests that run over every operation.
 */
export type RestOperation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its parameters as OpenAPI writes them: `/users/{userId}`. */
  readonly path: string;
  /** Path parameters that are not the id of an aggregate. */
  readonly parameters?: PathParameters;
  readonly role: 'command' | 'query' | 'webhook-dispatcher' | 'auth';
  readonly summary: string;
  /**
   * The right that a caller needs at least; `null` if the response is the same for everybody, whatever their
   * token allows.
   */
  readonly right: Operation | null;
  /** The parameters of the query; others are refused. */
  readonly query?: z.ZodObject;
  /** Its items are only created and ended, never changed, so there are no versions for a precondition. */
  readonly isUnversioned?: true;
  /** The schema of the body by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  /** Whether a missing body counts as an empty one. */
  readonly isBodyOptional?: true;
  /** The description of the body, for documentation. */
  readonly bodySays?: string;
  /** Whether the header `Reason` must, or may, say why. */
  readonly reason?: 'required' | 'optional' | undefined;
  /** Whether the header `Electronic-Signature` names the signature of the caller. */
  readonly isSigned?: boolean | undefined;
  /** Whether `Content-Disposition` may name the file in the body. */
  readonly takesFileName?: true;
  readonly answer: Answer;
  /** Refusals that depend on the present state rather than on the form of the request. */
  readonly refusals?: readonly (RejectionCode | HttpProblemCode)[];
};

export type PathParameters = Readonly<Record<string, PathParameter>>;

/** A path parameter, and the code of the refusal if nothing has its value. */
export type PathParameter = {
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly absent: RejectionCode;
  read(text: string): number | string | undefined;
};

/** The response on success. Its refusals follow from its inputs. */
export type Answer = {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /**
   * A list also comes as HAL, with links to the pages around it; lines come as they are read, without an
   * entity tag. `order` is an operator command, no write to an item; contracts record it by this name.
   * `sent` is sent as it is read, with each request again: no idempotency key repeats it.
   */
  readonly kind: 'item' | 'list' | 'lines' | 'written' | 'order' | 'sent' | 'nothing';
  /** Of the item, or of each item of the list. */
  readonly schema?: z.ZodType;
  /**
   * The place to follow a request that is carried out later, by the ids of the request and `eventId`, the id
   * of its event.
   */
  readonly location?: { readonly rel: string; readonly path: string };
  /**
   * Of a write: the id of the operation that reads the item, which is returned if `Prefer:
   * return=representation` asks for it.
   */
  readonly item?: string | undefined;
  /** The created resource is an item of a list: it has the version of its aggregate, which existed before. */
  readonly isOfItem?: true;
  /**
   * Whether the list is also a stream of server-sent events; a text describes its messages, unless they are
   * events.
   */
  readonly isStreamed?: true | string;
  /** Whether an event also comes as a CloudEvent, and a list of events as a batch of them. */
  readonly hasCloudEvents?: true;
};

/**
 * The resources of the authorization server are not in the log: there is no cursor to wait for, and they are
 * plain JSON.
 */
export const isOfLog = ({ role }: RestOperation): boolean => role !== 'auth';

/** Lines are sent as they are read, before there could be a tag. */
export const hasEntityTag = ({ answer }: RestOperation): boolean => answer.kind !== 'lines';

/** The path as Express writes it: `/users/:userId`. */
export const routeOf = ({ path }: RestOperation): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
