import { UnusableTopic } from './topics.ts';

/** What waiting does not mend, in words for the operator; undefined for everything that may pass. */
export const refusalIn = (error: unknown): string | undefined => {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = causeOf(cause), depth += 1) {
    if (cause instanceof UnusableTopic) return cause.message;
    if (cause.name === 'KafkaJSSASLAuthenticationError')
      return 'Kafka turns away the user of CHANGE_STREAM_URL: give its name, password and sasl';
    if (CERTIFICATE.test(cause.message))
      return `The certificate of Kafka is not trusted (${cause.message}): name its authority by ca= in CHANGE_STREAM_URL`;
  }
  return undefined;
};

const CERTIFICATE = /certificate|altnames/i;

/** KafkaJS keeps a cause now here, now there. */
const causeOf = (error: Error & { originalError?: unknown }): unknown => error.cause ?? error.originalError;
