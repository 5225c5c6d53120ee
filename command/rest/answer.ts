import type { Request, Response } from 'express';
import type { CommandResult } from '#shared/command-gateway/command-gateway.ts';
import { versionTagOf } from '#shared/http/entity-tag.ts';
import { mediaTypeFor } from '#shared/rest/media-type.ts';
import type { RestOperation } from '#shared/rest/operation.ts';

type Done = {
  readonly operation: RestOperation;
  readonly result: CommandResult;
  /** The path of what was written. */
  readonly self: string;
};

/** Answers a write, with the cursor by which a read can wait for it; the same result gives the same answer. */
export const answerWritten = (request: Request, response: Response, { operation, result, self }: Done): void => {
  const { status, kind } = operation.answer;
  const { id, version, cursor } = result;
  response.status(status).set({ 'Cache-Control': 'no-store', 'Consistency-Token': cursor });
  if (kind === 'nothing') return void response.end();
  const text = JSON.stringify({ id, version, cursor, _links: { self: { href: self } } });
  if (status === 201) response.location(self);
  response.set('ETag', versionTagOf(version)).type(mediaTypeFor(request)).send(text);
};
