import { type DestinationStream, type Logger, pino } from 'pino';
import { redact } from './redact.ts';

/** A structured log: JSON lines without secrets and personal fields. */
export type Log = Logger;

export type LogOptions = {
  readonly level: string;
  /** Where the lines go, other than to standard output. */
  readonly destination?: DestinationStream;
};

export const createLog = ({ level, destination = pino.destination({ dest: 1, sync: true }) }: LogOptions): Log => {
  const log = pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors are described by `redact`, which also looks into their causes.
      serializers: { err: (described: unknown) => described },
      formatters: { level: (label) => ({ level: label }), log: redact },
    },
    destination,
  );
  // Pino does not format what a child is given, and children inherit this method.
  const { child } = log;
  log.child = function (this: Log, bindings, options) {
    return child.call(this, redact(bindings), options);
  } as Log['child'];
  return log;
};
