import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { answerOnSocket } from './broken-request.ts';
import { requestFact } from './request-fact.ts';

type Watch = {
  readonly timer: NodeJS.Timeout | undefined;
  readonly windowMs: number;
  readonly cut: () => void;
};

const watches = requestFact<Watch | undefined>('body time');

/** Ends a request whose body takes longer than this to arrive, unless its route allows more. */
export const limitBodyTime = (request: IncomingMessage, response: ServerResponse, windowMs: number): void => {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
  const cut = (): void => {
    if (request.complete) return;
    // A response that has begun cannot be taken back.
    if (response.headersSent) request.socket.destroy();
    else answerOnSocket(new HttpProblem('request_timeout'), request.socket);
  };
  const watched: Watch = { timer: undefined, windowMs, cut };
  watches.set(request, watched);
  // Most bodies are small and arrive with their headers: they are complete by then, and need no timer.
  queueMicrotask(() => {
    if (request.complete) return stop(request);
    if (watches.of(request) === watched) watch(request, { ...watched, timer: setTimeout(cut, windowMs) });
    request.once('close', () => stop(request));
  });
};

/**
 * For a body too large for that time on a slow line: it may take longer, as long as it arrives at this rate
 * at least.
 */
export const demandBodyRate = (request: IncomingMessage, bytesPerSecondMin: number): void => {
  const watched = watches.of(request);
  // Some servers do not limit.
  if (watched === undefined) return;
  stop(request);
  const { windowMs, cut } = watched;
  const { socket } = request;
  const bytesMin = (bytesPerSecondMin * windowMs) / MS_PER_SECOND;
  let before = socket.bytesRead;
  const check = (): void => {
    if (request.complete || socket.bytesRead - before < bytesMin) {
      stop(request);
      cut();
    }
    before = socket.bytesRead;
  };
  watch(request, { timer: setInterval(check, windowMs), windowMs, cut });
};

const MS_PER_SECOND = 1_000;

const watch = (request: IncomingMessage, watched: Watch): void => {
  watched.timer?.unref();
  watches.set(request, watched);
};

const stop = (request: IncomingMessage): void => {
  clearTimeout(watches.of(request)?.timer);
  watches.set(request, undefined);
};
