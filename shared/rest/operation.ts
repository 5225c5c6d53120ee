import type * as z from 'zod';
import type { Operation } from '#shared/policy.ts';
import type { RejectionCode } from '#shared/rejection.ts';

/**
 * One operation of the REST interface. From this come the check of its requests, the `Allow` header, the
 * OpenAPI document, and the tests that run over every operation.
 */
export type RestOperation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its parameters as OpenAPI writes them: `/users/{userId}`. */
  readonly path: string;
  /** Those of its parameters that are read otherwise than ids of aggregates. */
  readonly parameters?: Readonly<Record<string, PathParameter>>;
  /** The role that serves it. */
  readonly role: 'command' | 'query' | 'webhook-dispatcher' | 'auth';
  readonly summary: string;
  /**
   * What the caller must at least be admitted to; with `null` it is the same for everybody, whatever their
   * token is good for.
   */
  readonly right: Operation | null;
  /** The parameters of the query; others are refused. */
  readonly query?: z.ZodObject;
  /** What it changes is never changed but made and ended: there are no versions to demand. */
  readonly isUnversioned?: true;
  /** The schema of the body by media type. */
  readonly body?: Readonly<Record<string, z.ZodType>>;
  /** Whether no body is taken for an empty one. */
  readonly isBodyOptional?: true;
  readonly answer: Answer;
  /** What it is refused for that follows from what is there, rather than from its form. */
  readonly refusals?: readonly RejectionCode[];
};

/** What stands in a path, and by what it is refused that nothing has. */
export type PathParameter = {
  readonly schema: z.ZodType;
  readonly absent: RejectionCode;
  read(text: string): number | string | undefined;
};

/** What it answers when it goes well. Its refusals follow from what it takes. */
export type Answer = {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /**
   * Lists also come as HAL, with links to the pages around; lines come as they are read, without an entity
   * tag. An order is no write to an item.
   */
  readonly kind: 'item' | 'list' | 'lines' | 'written' | 'order' | 'nothing';
  /** Of the item, or of each item of the list. */
  readonly schema?: z.ZodType;
  /**
   * Of what was asked for and is carried out later: where it is seen, by the ids of the request and
   * `eventId`, that of its event.
   */
  readonly location?: { readonly rel: string; readonly path: string };
  /**
   * Of a write: the id of the read of what was written, which answers instead where `Prefer:
   * return=representation` asks for it.
   */
  readonly item?: string | undefined;
  /** What was made is an item of a list: it has the version of its aggregate, which was there before. */
  readonly isOfItem?: true;
  /**
   * Whether there is also a stream of them, as server-sent events; and what its messages are, unless they are
   * events.
   */
  readonly isStreamed?: true | string;
};

/**
 * What the authorization server keeps is not in the log: there is nothing to wait for, and it is plain JSON.
 */
export const isOfLog = ({ role }: RestOperation): boolean => role !== 'auth';

/** The path as Express writes it: `/users/:userId`. */
export const routeOf = ({ path }: RestOperation): string => path.replaceAll(/\{(\w+)\}/g, ':$1');
