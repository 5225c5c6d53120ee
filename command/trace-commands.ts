import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { Rejection } from '#shared/rejection.ts';
import { errorTypeOf, type Tracing } from '#shared/tracing/tracing.ts';

type Send = CommandGateway['send'];

/** Shows every command in its trace, by its type and by what it came to; what it appends follows from it. */
export const traceCommands = (tracing: Tracing | undefined, send: Send): Send => {
  if (!tracing?.isOn) return send;
  return async (command, context) => {
    const { type } = command;
    const span = tracing.start(`command ${type}`, { parent: context.trace, attributes: { 'annals.command.type': type } });
    try {
      const result = await send(command, { ...context, trace: span.traceparent });
      span.set({ 'annals.outcome': 'done', 'annals.id': result.id, 'annals.version': result.version });
      return result;
    } catch (error) {
      span.set({ 'annals.outcome': error instanceof Rejection ? error.code : 'failed' });
      // A refusal is an answer.
      if (!(error instanceof Rejection)) span.fail(errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  };
};
