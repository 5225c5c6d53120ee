import type { Request } from 'express';
import { GraphQLError } from 'graphql';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Caller } from '#shared/policy.ts';
import type { Feed } from '../../changes/feed.ts';
import type { Reader } from '../../changes/lane.ts';
import type { Cohort } from '../../changes/renderings.ts';
import { firstCursorOf, positionOfCursor } from '../../rest/cursor-position.ts';
import { Refused, type Runnable } from '../documents/run.ts';
import { askedChangesOf, askedRootOf } from './asked-changes.ts';
import type { CohortOf } from './cohort.ts';
import type { SubscribeToView, ViewSubscription } from './views.ts';

/** A subscription that may begin: its request, its caller and its start. */
export type Subscription = ChangeSubscription | ViewSubscription;

type ChangeSubscription = {
  readonly cohort: Cohort;
  readonly caller: Caller;
  readonly after: Reader['after'];
};

/** Makes a subscription from an admitted operation. Refuses cursors of another log. */
type Subscribe = (runnable: Runnable, request: Pick<Request, 'get'>) => Promise<Subscription>;

type Options = {
  readonly domain: Domain;
  readonly feed: Pick<Feed, 'upTo'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'eventAt' | 'head'>;
  readonly cohortOf: CohortOf;
  readonly subscribeToView: SubscribeToView;
};

export const createSubscribe =
  ({ domain, feed, eventLog, cohortOf, subscribeToView }: Options): Subscribe =>
  async (runnable, request) => {
    demandSize(runnable);
    if (domain.views.length > 0) {
      const followed = await subscribeToView(runnable, askedRootOf(runnable), request).catch(
        (error: unknown) => refuse(error),
      );
      if (followed !== undefined) return followed;
    }
    const asked = askedChangesOf(domain, runnable);
    const { text, parameter } = firstCursorOf(request, asked.after);
    const after =
      text === undefined
        ? 'now'
        : await positionOfCursor(text, { eventLog, known: feed.upTo, parameter }).catch((error: unknown) =>
            refuse(error),
          );
    return { cohort: cohortOf(runnable, asked), caller: runnable.caller, after };
  };

/** The maximal length of the variables that stay in memory with a subscription. */
const CHARACTERS_MAX = 65_536;

const demandSize = ({ prepared: { document }, variables }: Runnable): void => {
  const found = (document.loc?.end ?? 0) + JSON.stringify(variables).length;
  if (found <= CHARACTERS_MAX) return;
  const message = `A subscription may have at most ${CHARACTERS_MAX} characters in its document and variables, but this one has ${found}.`;
  throw new Refused([
    new GraphQLError(message, { extensions: { code: 'subscription_too_large', max: CHARACTERS_MAX, found } }),
  ]);
};

const CURSOR_CODES: ReadonlySet<string> = new Set(['unknown_cursor', 'cursor_of_lost_history']);

/** For GraphQL, a bad cursor is an invalid value. */
const refuse = (error: unknown): never => {
  if (!(error instanceof HttpProblem) || !CURSOR_CODES.has(error.code)) throw error;
  throw new Refused([new GraphQLError(error.message, { extensions: { code: error.code } })]);
};
