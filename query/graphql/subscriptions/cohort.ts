import { createHash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { traceIdOf } from '#kernel/base/traceparent.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { cursorOf, type NamingLog } from '#shared/event-log/own-cursor.ts';
import type { Log } from '#shared/log.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import type { Cohort } from '../../changes/renderings.ts';
import { createSharedCohorts } from '../../changes/shared-cohorts.ts';
import { eventMessage } from '../../sse/messages.ts';
import type { Runnable } from '../documents/run.ts';
import type { Execute, RequestFacts } from '../execute.ts';
import type { Planner } from '../planner/planner.ts';
import { createFormatError } from '../rules/errors.ts';
import type { AskedChanges } from './asked-changes.ts';
import { dependsOnViewer } from './depends-on-viewer.ts';
import { planPayload } from './planned.ts';
import { subscriptionEventOf } from './subscription-event.ts';

type Options = {
  readonly domain: Domain;
  readonly eventLog: NamingLog;
  /** Reads the payloads that it supports; all others are executed. */
  readonly planner: Pick<Planner, 'plan'>;
  readonly execute: Execute;
  readonly log: Log;
};

/** The cohort of equal requests with the same result. */
export type CohortOf = (runnable: Runnable, asked: AskedChanges) => Cohort;

/**
 * Executes a change once for all of a cohort, as a message of GraphQL over SSE with the cursor for
 * `Last-Event-ID`.
 */
export const createCohorts = ({ domain, eventLog, planner, execute, log }: Options): CohortOf => {
  const cohortOf = createSharedCohorts();
  return (runnable, { topics, wants, variables }) => {
    const { prepared, operation, caller: viewer } = runnable;
    const isOwn = dependsOnViewer(prepared, operation.node, viewer);
    const kind = isOwn ? viewer : { ...viewer, userId: null, client: null };
    const asked = [prepared.hash, operation.node.name?.value, variables];
    const key = createHash('sha256')
      .update(JSON.stringify([...asked, kind, viewer.kind === 'user' && [...viewer.scopes].sort()]))
      .digest('base64url');
    return cohortOf(key, () => {
      const renderPlanned = planPayload({ domain, planner }, runnable);
      return {
        topics,
        async render(change, concerned) {
          const caller = isOwn ? viewer : concerned;
          if (!wants(change) || !maySee(caller, change)) return undefined;
          const cursor = cursorOf(eventLog, change.position, change.id);
          const event = subscriptionEventOf(domain, change, cursor);
          const planned = await renderPlanned?.(event, caller);
          if (planned !== undefined)
            return eventMessage({ event: 'next', id: cursor, data: `{"data":${planned}}` });
          const { data, errors } = await execute({ ...runnable, caller }, factsOf(change), event);
          if (errors) rethrowTemporary(errors);
          const shown = errors && { errors: errors.map(createFormatError(log, namesOf(change))) };
          return eventMessage({ event: 'next', id: cursor, data: JSON.stringify({ ...shown, data }) });
        },
      };
    });
  };
};

/** For logs. */
const namesOf = ({ id, trace }: Change) => ({ requestId: id, traceId: traceIdOf(trace) });

/** There is no request; the change provides the facts. */
const factsOf = ({ id }: Change): RequestFacts => ({
  requestId: id,
  idempotencyKey: undefined,
  charge: async () => {},
  headers: {},
  signal: new AbortController().signal,
});

/** A temporary failure must not replace a message: subscribers reconnect after the last one they have. */
export const rethrowTemporary = (errors: readonly GraphQLError[]): void => {
  for (const { originalError } of errors)
    if (originalError instanceof HttpProblem && originalError.code === 'unavailable') throw originalError;
};

/** The part of a message that is the result of the execution. */
export const resultIn = (message: Buffer): Buffer =>
  message.subarray(message.indexOf(DATA) + DATA.length, -END.length);

const DATA = '\ndata: ';
const END = '\n\n';
