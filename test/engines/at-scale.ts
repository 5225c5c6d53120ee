import type { TestProject } from 'vitest/node';
import { startKafka } from './kafka.ts';
import { kafkaMissing } from './kafka-server.ts';
import { redisMissing } from './redis.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The broker of a run whose installations use the engines for scale, if available. */
    readonly kafkaBroker?: string | undefined;
  }
}

/**
 * One Kafka for all installations of a run, each with a topic of its own; their other engines start quickly,
 * so each has its own.
 */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const missing = kafkaMissing ?? redisMissing;
  if (missing !== undefined) {
    if (process.env.CI === 'true') throw new Error(missing);
    process.stderr.write(`The end-to-end suites do not run on the engines for scale: ${missing}.\n`);
    return undefined;
  }
  const kafka = await startKafka();
  project.provide('kafkaBroker', kafka.broker);
  return async () => kafka[Symbol.asyncDispose]();
};
