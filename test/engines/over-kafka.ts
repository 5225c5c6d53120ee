import type { TestProject } from 'vitest/node';
import { startKafka } from './kafka.ts';
import { kafkaMissing } from './kafka-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The broker of a run whose installations bring changes by Kafka, if there can be one. */
    readonly kafkaBroker?: string | undefined;
  }
}

/** One Kafka for all installations of a run, each with a topic of its own. */
export const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  if (kafkaMissing !== undefined) {
    process.stderr.write(`The suites of changes do not run with Kafka: ${kafkaMissing}.\n`);
    return undefined;
  }
  const kafka = await startKafka();
  project.provide('kafkaBroker', kafka.broker);
  return async () => kafka[Symbol.asyncDispose]();
};
