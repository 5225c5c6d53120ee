import type { ErrorRequestHandler } from 'express';
import { problemOf } from '#edge/http/problem.ts';
import { requestIdOf } from '#edge/http/request-context.ts';
import { namesOf } from '#edge/http/request-span.ts';
import type { Log } from '#shared/log.ts';
import { answerPage } from '../pages/answer-page.ts';
import { messagePage } from '../pages/message-page.ts';
import type { Page } from '../pages/page.ts';
import { isForPrograms } from '../rest/answer-json.ts';
import { TooBusy } from '../security/semaphore.ts';

/** Ends a request with a page that explains the error to a person at a browser. */
export class PageRefusal extends Error {
  readonly page: Page;

  constructor(page: Page, options?: ErrorOptions) {
    super(page.title, options);
    this.name = 'PageRefusal';
    this.page = page;
  }
}

const BUSY = messagePage({
  status: 503,
  title: 'Too many requests',
  text: 'Many people are signing in right now. Try again in a moment.',
});
const RETRY_AFTER_SECONDS = '2';

/** Turns errors below a page path into pages instead of problem documents. */
export const answerPageErrors =
  (log: Log): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent || isForPrograms(request)) return next(error);
    if (error instanceof PageRefusal) return answerPage(response, error.page);
    const { status, headers } =
      error instanceof TooBusy
        ? { status: 503, headers: { 'Retry-After': RETRY_AFTER_SECONDS } }
        : problemOf(error);
    response.set(headers);
    if (error instanceof TooBusy) return answerPage(response, BUSY);
    const requestId = requestIdOf(request);
    if (status >= 500)
      log.error(
        { err: error, ...namesOf(request), method: request.method, path: request.route?.path },
        'A page failed.',
      );
    answerPage(response, failurePage(status, requestId));
  };

const failurePage = (status: number, requestId: string): Page =>
  status >= 500
    ? messagePage({
        status,
        title: 'Something went wrong on our side',
        text: `Try again in a moment. If this continues, report ${requestId} to the operator of this site.`,
      })
    : messagePage({
        status,
        title: 'This request cannot be accepted',
        text: 'Go back to the application and start again.',
      });
