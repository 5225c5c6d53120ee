import type { Request, Response } from 'express';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { versionTagOf } from '#shared/http/entity-tag.ts';
import { mediaTypeFor } from '../media-type.ts';
import type { RestOperation } from '../operation.ts';

type Done = {
  readonly operation: RestOperation;
  readonly result: CommandResult;
  /** The path of what was written. */
  readonly self: string;
  /** The ids in the path of the request, where its answer has a location. */
  readonly item?: Ids;
};

type Ids = Readonly<Record<string, string | number>>;

/** Answers a write, with the cursor by which a read can wait for it; the same result gives the same answer. */
export const answerWritten = (request: Request, response: Response, { operation, result, self, item }: Done): void => {
  const { status, kind, location } = operation.answer;
  const { id, version, cursor, secret, eventId } = result;
  response.status(status).set({ 'Cache-Control': 'no-store', 'Consistency-Token': cursor });
  if (kind === 'nothing') return void response.end();
  const href = location && filledIn(location.path, { ...item, ...(eventId !== undefined && { eventId }) });
  const links = { self: { href: self }, ...(location && href !== undefined && { [location.rel]: { href } }) };
  const text = JSON.stringify({ id, version, cursor, ...(secret !== undefined && { secret }), _links: links });
  if (status === 201) response.location(self);
  else if (href !== undefined) response.location(href);
  response.set('ETag', versionTagOf(version)).type(mediaTypeFor(request)).send(text);
};

/** Nothing where one of the ids is not known. */
const filledIn = (path: string, ids: Ids): string | undefined => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (parameter, name: string) => (Object.hasOwn(ids, name) ? String(ids[name]) : parameter));
  return filled.includes('{') ? undefined : filled;
};
