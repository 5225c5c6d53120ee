import type { Request, Response } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import { answerIn } from '#edge/http/content-coding.ts';
import { demandMatch, entityTagOf, isKnownToReader } from '#edge/http/entity-tag.ts';
import { demandRoom } from '#edge/http/shed-load.ts';
import { CLOUD_EVENT_TYPE, CLOUD_EVENTS_TYPE } from '#kernel/base/rest/cloud-event-types.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import { type MediaType, mediaTypeFor } from '../media-type.ts';

/** The result of a read, before its media type is chosen. */
type Found = {
  /** Beside those of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The event as a CloudEvent, or those of the list. */
  readonly cloudEvents?: () => object;
};
export type ItemAnswer = Found & {
  readonly kind: 'item';
  /**
   * Undefined if the version would reveal changes that the reader may not see; it is of no use to such a
   * reader.
   */
  readonly version: number | undefined;
  readonly item: object;
};
export type ListAnswer = Found & {
  readonly kind: 'list';
  readonly items: readonly object[];
  readonly links: {
    readonly self: string;
    readonly first?: string;
    readonly prev?: string;
    readonly next?: string;
    readonly poll?: string;
  };
  /** Present if the reader may add an item. */
  readonly create?: Link | undefined;
};
export type ReadAnswer = ItemAnswer | ListAnswer;

const JSON_TYPE = 'application/json';

/**
 * Answers a read, or responds 304 if the reader has it already; even with `no-cache`, which Node’s `fetch`
 * sends.
 */
export const answerRead = (request: Request, response: Response, answer: ReadAnswer): void => {
  const type = mediaTypeFor(request, answer.cloudEvents && answer.kind);
  const {
    text,
    entityTag: plainTag,
    link,
  } = answer.kind === 'item' ? itemAs(type, answer) : listAs(type, answer);
  demandRoom(request, text.length);
  const { entityTag = plainTag, send } = answerIn(request, response, { text, entityTag: plainTag });
  demandMatch(request, entityTag, answer.kind === 'item' ? answer.version : undefined);
  response.setHeader('ETag', entityTag);
  response.setHeader(
    'Cache-Control',
    callerOf(request).kind === 'anonymous' ? 'public, no-cache' : 'private, no-cache',
  );
  response.vary('Accept, Authorization');
  if (answer.headers !== undefined) response.set(answer.headers);
  if (link !== '') response.setHeader('Link', link);
  if (isKnownToReader(request, entityTag)) response.status(304).end();
  else {
    response.setHeader('Content-Type', type);
    send();
  }
};

/** Sends an item that was read; the status and the other headers are set by then. */
export type SendItem = (response: Response) => void;

/**
 * Sends the written item as a read of it would. The preconditions of the request belong to the write. Refuses
 * if there is no room.
 */
export const prepareItem = (request: Request, answer: ItemAnswer): SendItem => {
  const type = mediaTypeFor(request);
  const { text, entityTag } = itemAs(type, answer);
  demandRoom(request, text.length);
  return (response) => {
    const body = answerIn(request, response, { text, entityTag });
    response.set('ETag', body.entityTag).vary('Accept, Authorization').type(type);
    body.send();
  };
};

type Written = { readonly text: string; readonly entityTag: string; readonly link: string };

/** An item is the same in both media types, but they need different entity tags (RFC 9110, section 8.8.1). */
const itemAs = (type: MediaType, { version, item, cloudEvents }: ItemAnswer): Written => {
  const text = JSON.stringify(type === CLOUD_EVENT_TYPE ? cloudEvents?.() : item);
  return { text, entityTag: entityTagOf(version, type === JSON_TYPE ? text : `${type} ${text}`), link: '' };
};

/**
 * A list has no version of its own. Its links are part of the tag: a page may get a next one without changing
 * itself.
 */
const listAs = (type: MediaType, answer: ListAnswer): Written => {
  const { self: _, ...pages } = answer.links;
  const text = JSON.stringify(pageAs(type, answer));
  const link = Object.entries(pages)
    .map(([rel, href]) => `<${href}>; rel="${rel}"`)
    .join(', ');
  // An empty page is the same text as JSON and as CloudEvents.
  const told = type === JSON_TYPE ? link : `${type} ${link}`;
  return { text, entityTag: entityTagOf(LIST_VERSION, `${told}\n${text}`), link };
};

const pageAs = (type: MediaType, { items, links, create, cloudEvents }: ListAnswer): object | undefined => {
  if (type === JSON_TYPE) return items;
  if (type === CLOUD_EVENTS_TYPE) return cloudEvents?.();
  return { _links: { ...halLinks(links), ...(create && { create }) }, _embedded: { items } };
};

const LIST_VERSION = 0;

const halLinks = (links: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(links).map(([rel, href]) => [rel, { href }]));
