import { beforeEach, inject } from 'vitest';

// Without it these suites would say nothing that the same ones without Kafka do not say.
beforeEach(({ skip }) => {
  skip(inject('kafkaBroker') === undefined, 'there can be no Kafka here');
});
