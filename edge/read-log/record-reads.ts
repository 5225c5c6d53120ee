import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { actorOf, type Caller, isOfAuditor, userIdOf } from '#shared/policy.ts';
import type { ReadBy } from '#shared/read-log/entry.ts';
import { noting, OTHER } from '#shared/read-log/noted.ts';
import { Notes } from '#shared/read-log/notes.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import { callerOf } from '../authenticate/authenticate.ts';
import { requestIdOf } from '../http/request-context.ts';
import { isToolCall } from '../http/tool-call.ts';
import { type Recorded, type Recording, recordings } from './recorded.ts';

/**
 * Records what the answers to requests show of aggregates whose reads are logged. Nothing of an answer leaves
 * the process before it is recorded, whatever sends it.
 */
export const recordReads =
  (readLog: ReadLog): RequestHandler =>
  (request, response, next) => {
    // Another role of the process has come first.
    if (recordings.of(request) !== undefined) return next();
    const isAuditor = (): boolean => isOfAuditor(callerOf(request));
    const notes = new Notes(isAuditor);
    let isRecorded = false;
    let isOther = false;
    const write = (): Promise<void> | undefined => {
      if (notes.isEmpty) return undefined;
      isRecorded = true;
      const named = namedOf(request, recording.as);
      const [path = ''] = request.originalUrl.split('?', 1);
      const said = isOther ? { ...named, query: { ...named.query, path } } : named;
      return readLog.record(notes, readBy(callerOf(request), said));
    };
    /** An answer to an auditor has an entry, also if it shows no item: its path, without a query, says what it is. */
    const noteAnswer = (): void => {
      isOther = !isRecorded && notes.isEmpty && isAuditor();
      if (isOther) notes.add(OTHER, undefined, []);
    };
    const recording: Recording = {
      notes,
      as: undefined,
      isStream: false,
      write() {
        noteAnswer();
        return write();
      },
    };
    recordings.set(request, recording);
    const noteResponse = (): void => {
      if (!recording.isStream) noteAnswer();
    };
    holdBack(response, { notes, noteAnswer: noteResponse, write }, next);
    noting(notes, next);
  };

const namedOf = (request: Request, as: Recorded | undefined): Recorded & { readonly request: string } => {
  const path: unknown = request.route?.path;
  const named = as ?? {
    via: 'rest',
    operation: `${request.method} ${String(path ?? request.path)}`,
    query: {},
  };
  return { ...named, via: isToolCall(request) ? 'mcp' : named.via, request: requestIdOf(request) };
};

/** An entry’s facts about its reader. */
export const readBy = (caller: Caller, named: Recorded & { readonly request: string }): ReadBy => ({
  ...named,
  actor: actorOf(caller),
  reader: userIdOf(caller),
  client: caller.kind === 'user' ? caller.client : null,
  isAuditor: isOfAuditor(caller),
});

const REFUSED_FROM = 400;
/** It compares what the reader says with what was read, and so tells whether they are the same. */
const PRECONDITION_FAILED = 412;

type Held = {
  readonly notes: Notes;
  readonly noteAnswer: () => void;
  readonly write: Recording['write'];
};

/** An answer that cannot be recorded becomes a refusal; a refusal shows nothing of what was read before it. */
const holdBack = (response: Response, { notes, noteAnswer, write }: Held, next: NextFunction): void => {
  const original = { end: response.end, write: response.write };
  let before: Promise<void> | undefined;
  const refuse = (error: unknown): void => {
    Object.assign(response, original);
    next(error);
  };
  const inOrder = (work: () => void): void => {
    const recorded = write();
    if (before === undefined && recorded === undefined) work();
    else {
      before = Promise.all([before, recorded]).then(work);
      before.catch(refuse);
    }
  };
  response.end = ((...given: Parameters<Response['end']>) => {
    if (response.statusCode >= REFUSED_FROM && response.statusCode !== PRECONDITION_FAILED) notes.take();
    else noteAnswer();
    inOrder(() => void original.end.apply(response, given));
    return response;
  }) as Response['end'];
  response.write = ((...given: Parameters<Response['write']>) => {
    if (response.statusCode < REFUSED_FROM) noteAnswer();
    if (before === undefined && notes.isEmpty) return original.write.apply(response, given);
    let isTaken: boolean | undefined;
    inOrder(() => {
      const takes = original.write.apply(response, given);
      // Nobody waits yet if it is written at once.
      if (isTaken === undefined) isTaken = takes;
      else if (takes) response.emit('drain');
    });
    isTaken ??= false;
    return isTaken;
  }) as Response['write'];
};
