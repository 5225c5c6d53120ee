import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Whoever asks before sending a body (RFC 9110, section 10.1.1) is told to go on once something reads it, and not before: what is
 * refused by its headers is refused without it. Node closes a connection on which the body was not asked for.
 */
export const continueOnceRead = (server: Server): void => {
  // Whatever else is expected may be overlooked; Node would refuse it without a word.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response));
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const listen = (event: string | symbol): void => {
      if (event !== 'data' && event !== 'readable') return;
      request.off('newListener', listen);
      if (!response.headersSent) response.writeContinue();
    };
    request.on('newListener', listen);
    server.emit('request', request, response);
  });
};
