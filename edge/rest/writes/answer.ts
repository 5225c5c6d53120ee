import type { Request, Response } from 'express';
import { versionTagOf } from '#edge/http/entity-tag.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { mediaTypeFor } from '../media-type.ts';
import type { SendItem } from '../reads/answer.ts';
import { preferenceOf, takesPreference } from './preference.ts';

type Done = {
  readonly operation: RestOperation;
  readonly result: CommandResult;
  /** The path of the written item. */
  readonly self: string;
  /** The ids in the path of the request, if the response has a location. */
  readonly item?: Ids;
  /** The added list item, and its key. */
  readonly ofItem?: { readonly name: string; readonly itemId: unknown };
  /** Sends the written item, if the request asks for it and it can be read. */
  readonly sendItem?: SendItem | undefined;
};

type Ids = Readonly<Record<string, string | number>>;

const PREFERENCE_APPLIED = 'Preference-Applied';

/**
 * Responds to a write, with the cursor by which a read can wait for it; equal results give equal responses.
 */
export const answerWritten = (
  request: Request,
  response: Response,
  { operation, result, self, item, sendItem, ofItem }: Done,
): void => {
  const { status, kind, location } = operation.answer;
  const { id, version, cursor, secret, withheld, eventId } = result;
  response.status(status).set({ 'Cache-Control': 'no-store', 'Consistency-Token': cursor });
  if (kind === 'nothing') return void response.end();
  if (takesPreference(operation.answer)) response.vary('Prefer');
  const href = location && filledIn(location.path, { ...item, ...(eventId !== undefined && { eventId }) });
  if (status === 201) response.location(self);
  else if (href !== undefined) response.location(href);
  if (sendItem !== undefined) {
    response.set({ 'Content-Location': self, [PREFERENCE_APPLIED]: 'return=representation' });
    return void sendItem(response);
  }
  response.set('ETag', versionTagOf(version));
  if (preferenceOf(request, operation.answer) === 'minimal') {
    response.set(PREFERENCE_APPLIED, 'return=minimal');
    const minimal = statusOfMinimal(status);
    if (minimal !== status) return void response.status(minimal).end();
  }
  const links = { self: { href: self }, ...(location && href !== undefined && { [location.rel]: { href } }) };
  const made = {
    ...(secret !== undefined && { secret }),
    ...(withheld !== undefined && { withheld }),
    ...(operation.answer.isOfItem && ofItem && { [ofItem.name]: ofItem.itemId }),
  };
  const text = JSON.stringify({ id, version, cursor, ...made, _links: links });
  response.type(mediaTypeFor(request)).send(text);
};

/** 201 and 202 keep their status, and the few bytes that name the created resource. */
export const statusOfMinimal = (status: number): number => (status === 200 ? 204 : status);

/** Undefined if one of the ids is unknown. */
const filledIn = (path: string, ids: Ids): string | undefined => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (parameter, name: string) =>
    Object.hasOwn(ids, name) ? String(ids[name]) : parameter,
  );
  return filled.includes('{') ? undefined : filled;
};
